import { randomBytes } from 'node:crypto'
import type { CallerKind, Operation } from '@market/contract/define'
import { type EvmSigner, evmSigner } from '@market/testing/evm-signer'
import { ADMIN_ROLE } from '@market/testing/idp'
import {
  insertOperation,
  insertToken,
  insertWithdrawAddress,
  linkX,
  makeWalletAgent,
} from '../support/agent-wallets.ts'
import type { RequestOptions } from '../support/client.ts'
import { makeSettledFee } from '../support/creator-fees.ts'
import { makeFundedOrders } from '../support/funded-orders.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, type Signer, signed } from '../support/makers.ts'
import type { Market } from '../support/market.ts'
import { proposeAs, secondOperatorToken } from '../support/operator.ts'
import { makeOrderIn } from '../support/order-in-state.ts'
import { makePostedBounties } from '../support/posted-bounties.ts'
import { makePurchasedOrder } from '../support/purchased-order.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY, ADMIN_USER, OWN_WALLET, PUBLIC_ADDRESS } from '../support/settings.ts'
import {
  AMOUNT,
  bringFees,
  bringSurplus,
  CHECKSUMMED,
  makeFailed,
  makeOutgoingTransfer,
  makeUnmatched,
} from '../support/treasury.ts'
import { insertPending, makeWeekly, openPurchasedWorkspace, openWorkspace } from '../support/workspace.ts'

/** All kinds of callers, each with a valid credential of its kind. */
export const PRINCIPALS = [
  'anonymous',
  'owner user',
  'other user',
  'agent',
  'other agent',
  'owner wallet',
  'other wallet',
  'admin key',
  'admin session',
] as const
export type Principal = (typeof PRINCIPALS)[number]

/** Host of the agents' endpoints. It stops resolving after registration, so that nothing is sent. */
const MOVED_AWAY = 'moved-away.example'

export type World = Awaited<ReturnType<typeof makeWorld>>

/**
 * A public agent whose owner has both a wallet and an account, another user of every kind,
 * and an agent without an owner.
 */
export async function makeWorld(market: Market) {
  const ownerWallet = evmSigner()
  const otherWallet = evmSigner()
  const endpoint = { endpoint_url: `https://${MOVED_AWAY}/in` }
  market.dns.answers.set(MOVED_AWAY, [PUBLIC_ADDRESS])
  const agent = await makeOwnedAgent(market, endpoint, ownerWallet)
  const ownerUser = await makeUser(market, {
    wallets: [ownerWallet.address],
    twitter_username: `x${randomBytes(6).toString('hex')}`,
  })
  const linked = await market
    .client()
    .post('/api/agents/link', { api_key: agent.apiKey }, { bearer: ownerUser.token })
  if (linked.status !== 200) throw new Error(`the owner could not link the agent: ${linked.status}`)
  const hiddenAgent = await makeAgent(market, endpoint)
  const otherAgent = await makeOwnedAgent(market, endpoint)
  const toRotate = await makePaidAgent(market, ownerWallet, endpoint)
  market.dns.answers.delete(MOVED_AWAY)
  const service = await makeService(market, agent)
  await linkX(market, agent.id)
  await insertToken(market, agent.id)
  await insertWithdrawAddress(market, { id: agent.id })
  await insertOperation(market, otherAgent.id, { kind: 'launch' })
  const asking = await makeService(market, agent, { price_type: 'quote', price_usd: undefined })
  const sides = { service, asking, buyer: otherWallet, seller: ownerWallet }
  return {
    market,
    agent,
    hiddenAgent,
    otherAgent,
    /** Of the same owner, with a payout address and an endpoint. Its API key is replaced, so that the key of `agent` stays. */
    toRotate,
    /** Owned by a wallet on Solana, which can register a token. */
    tokenAgent: await makeWalletAgent(market),
    service,
    asking,
    /** For the delete test, so that `service` stays. */
    toDelete: await makeService(market, agent),
    /** Ordered by the other wallet and completed. */
    completedOrder: await makeOrderIn(market, service, 'completed', otherWallet),
    /** Purchased with x402 by an unknown payer. */
    purchasedOrder: await makePurchasedOrder(market, service),
    /** Bought by the other wallet, with a request for each principal. */
    workspace: await makeWorkspaceFor(market, agent, otherWallet),
    purchasedWorkspace: await openPurchasedWorkspace(market, await makeWeekly(market, agent, 50_000)),
    /** Ordered by the other wallet, one for each action on orders. */
    orders: await makeFundedOrders(market, sides),
    hiddenService: await makeService(market, hiddenAgent),
    ownerWallet,
    otherWallet,
    ownerUser,
    otherUser: await makeUser(market),
    admin: await makeUser(market, { sub: ADMIN_USER, roles: [ADMIN_ROLE] }),
    money: await makeMoney(market),
    /** A registration whose payment two requests named. */
    contestedPurchase: await makeContestedRegistration(market, hiddenAgent.id),
    bounties: await makePostedBounties(market, agent),
    /** Recorded and settled, so that the same requests again need no chain. */
    creatorFee: await makeSettledFee(market),
    /** Sent by the owner's wallet, and paid for nothing. */
    unmatched: await makeUnmatched(market.db, { payer: ownerWallet.address.toLowerCase() }),
  }
}

async function makeWorkspaceFor(market: Market, agent: { id: string; apiKey: string }, buyer: EvmSigner) {
  const { id } = await openWorkspace(market, await makeWeekly(market, agent, 50_000), buyer)
  const toAnswer: string[] = []
  for (const _ of PRINCIPALS) toAnswer.push(await insertPending(market, id))
  return { id, toAnswer }
}

/** An agent of this wallet with a payout address. */
async function makePaidAgent(market: Market, owner: EvmSigner, fields: Readonly<Record<string, string>>) {
  const agent = await makeAgent(market, fields)
  const proof = await signed(owner, `agents.owner:${agent.id}`, market.now())
  const change = { owner_wallet: owner.address, payout_address_base: CHECKSUMMED, ...proof }
  const { status } = await market.client().patch('/api/agents/me', change, { bearer: agent.apiKey })
  if (status !== 200) throw new Error(`the agent got no payout address: ${status}`)
  return agent
}

async function makeContestedRegistration({ db, now }: Market, agentId: string): Promise<string> {
  const id = `hir_1700000000000_0${randomBytes(8).toString('hex')}`
  const at = new Date(now())
  const transaction = `0x${randomBytes(32).toString('hex')}`
  await db
    .insertInto('purchases')
    .values({
      ...{ id, network: 'base-mainnet', kind: 'transaction', proof: transaction, reference: transaction },
      ...{ subject: 'registration', request: '{}', fingerprint: Buffer.alloc(32), binding: 'none' },
      ...{ payer: `0x${'d'.repeat(40)}`, amount_micros: AMOUNT, state: 'done', result_id: agentId },
      ...{ lease_until: at, contested_at: at, created_at: at, updated_at: at },
    })
    .execute()
  return id
}

/** Resources that only an operator may change, one of each. */
async function makeMoney(market: Market) {
  const { db } = market
  await bringFees(db, AMOUNT)
  const toKeep = await makeUnmatched(db, { payer: OWN_WALLET })
  // All have the same reference, so that one input is valid for each of them.
  await bringSurplus(db, toKeep.reference, AMOUNT)
  return {
    toRefund: await makeUnmatched(db),
    toKeep,
    toBook: await makeOutgoingTransfer(db, { reference: toKeep.reference }),
    failedPayout: await makeFailed(db),
    toRedirect: await makeFailed(db),
    toApprove: await makeProposal(market),
    toReject: await makeProposal(market),
  }
}

/** The id of a proposal of the second operator. */
async function makeProposal(market: Market): Promise<string> {
  const payload = { payout_id: (await makeFailed(market.db)).id, payee: CHECKSUMMED }
  const bearer = await secondOperatorToken(market)
  const { status, body } = await proposeAs(market, 'redirect_payout', payload, bearer)
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`)
  return body.data.id
}

/** The credentials of this principal for this call. */
export async function credentialOf(
  world: World,
  principal: Principal,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
): Promise<Pick<RequestOptions, 'bearer' | 'headers'>> {
  switch (principal) {
    case 'anonymous':
      return {}
    case 'owner user':
      return { bearer: world.ownerUser.token }
    case 'other user':
      return { bearer: world.otherUser.token }
    case 'agent':
      return { bearer: world.agent.apiKey }
    case 'other agent':
      return { bearer: world.otherAgent.apiKey }
    case 'owner wallet':
      return { headers: await signatureOf(world, ownerFor(world, operation), operation, input) }
    case 'other wallet':
      return { headers: await signatureOf(world, world.otherWallet, operation, input) }
    case 'admin key':
      return { bearer: ADMIN_KEY }
    case 'admin session':
      return { bearer: world.admin.token }
  }
}

/** A token belongs to a wallet on Solana, and its agent has another owner. */
const ownerFor = ({ tokenAgent, ownerWallet }: World, { id }: Operation): Signer =>
  id === 'registerToken' ? tokenAgent.owner : ownerWallet

/** What a wallet signs for this call. */
export const purposeOf = (operation: Operation, input: Readonly<Record<string, unknown>>): string =>
  (operation.purpose ?? 'session').replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = input[field]
    return typeof value === 'string' || typeof value === 'number' ? String(value).normalize('NFC') : ''
  })

let signatures = 0

/** Every signature has its own timestamp, because a single-use signature is accepted once. */
async function signatureOf(
  world: World,
  signer: Signer,
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
) {
  const purpose = purposeOf(operation, input)
  signatures = (signatures + 1) % 200_000
  const at = world.market.now() - signatures
  // Text that a wallet cannot display cannot be signed; such an input gets a signature for another purpose.
  return asHeaders(await signed(signer, purpose, at).catch(() => signed(signer, 'session', at)))
}

const PRINCIPAL_OF: readonly (readonly [CallerKind, Principal])[] = [
  ['agent', 'agent'],
  ['user', 'owner user'],
  ['admin', 'admin session'],
  ['admin_key', 'admin key'],
  ['wallet', 'owner wallet'],
  ['anonymous', 'anonymous'],
]

/** For operations that do not accept every caller of a kind: the principal that owns the resource of the input. */
const INSIDERS: Readonly<Record<string, Principal>> = {
  // The owner has open orders.
  deleteProfile: 'other user',
  createReview: 'other wallet',
  generate: 'other wallet',
  createOrder: 'other wallet',
  setWithdrawAddress: 'owner wallet',
}

/** A principal that the operation accepts. */
export function acceptedPrincipal(operation: Operation): Principal {
  const insider = INSIDERS[operation.id]
  if (insider !== undefined) return insider
  const found = PRINCIPAL_OF.find(([kind]) => operation.callers.includes(kind))
  if (found === undefined) throw new Error(`nobody may call ${operation.id}`)
  return found[1]
}

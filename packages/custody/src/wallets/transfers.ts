import type { WalletReader } from '@market/core/ports/agent-wallets'
import type { Db } from '@market/database/transact'
import {
  type Agent,
  getAgent,
  lockAgentOfKey,
  lockOwnedAgent,
  type Owner,
  type OwnerSignature,
} from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { DAY } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { findWithdrawAddresses } from './addresses/store.ts'
import { addressesAt } from './addresses/withdraw-address.ts'
import { parseWanted, tokenUnits, type Wanted, type WantedAmount } from './amount.ts'
import { underfunded } from './failure.ts'
import { amountToSend } from './funds.ts'
import { addressOf } from './get-funding.ts'
import type { Transfer, WalletTransaction } from './operation.ts'
import { readHeld } from './read-held.ts'
import { type RequestContext, requestWalletTransaction } from './request-operation.ts'
import { requireSignature } from './require-signature.ts'
import { hasEnded } from './states.ts'
import { findLastWalletTransaction } from './store.ts'
import { requireReader, type WalletServices } from './wallet-context.ts'

type Ctx = RequestContext & { readonly db: Db } & WalletServices

/** Sends from the server wallet to any address. Only the owner wallet can, by a signature that names the transfer. */
export async function sendFromWallet(
  ctx: Ctx,
  agentId: AgentId,
  owner: Owner,
  { to, ...request }: WantedAmount & { readonly to: string },
  signature: OwnerSignature | undefined,
): Promise<WalletTransaction> {
  const wanted = parseWanted(request)
  requireOwnerWallet(await getAgent(ctx, agentId), owner)
  const reader = requireReader(ctx)
  const task: Transfer = { kind: 'send', to, ...(await resolve(reader, wanted)) }
  await requireFunds(reader, await addressOf(ctx.db, agentId), task)
  return ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, agentId, owner)
    return requestWalletTransaction(ctx, tx, agentId, task, requireSignature(agent, signature))
  })
}

/** Withdraws to the address that the owner set at least 24 hours ago. The API key is enough. */
export async function withdrawFromWallet(
  ctx: Ctx,
  { id: agentId, apiKeyHint }: Pick<Agent, 'id' | 'apiKeyHint'>,
  request: WantedAmount,
): Promise<WalletTransaction> {
  const wanted = parseWanted(request)
  const reader = requireReader(ctx)
  const { effective, pending } = addressesAt(await findWithdrawAddresses(ctx.db, agentId), ctx.clock.now())
  if (effective === null) throw noWithdrawAddress(pending?.effectiveAt)
  const task: Transfer = { kind: 'withdraw', to: effective.address, ...(await resolve(reader, wanted)) }
  await requireFunds(reader, await addressOf(ctx.db, agentId), task)
  return ctx.transact(async (tx) => {
    await lockAgentOfKey(tx, agentId, apiKeyHint)
    return requestWalletTransaction(ctx, tx, agentId, task)
  })
}

/** The asset and its units. Of a token the chain tells the decimals, and whether it can be sent. */
async function resolve(
  reader: WalletReader,
  wanted: Wanted,
): Promise<Pick<Transfer, 'asset' | 'amount' | 'isAll'>> {
  if ('asset' in wanted) return { ...wanted, isAll: wanted.amount === null }
  const asset = await reader.tokenOf(wanted.mint)
  if ('rejected' in asset) throw badAsset(wanted.mint, asset.rejected)
  const amount = tokenUnits(wanted.text, asset.decimals)
  return { asset, amount, isAll: amount === null }
}

/**
 * Exports the secret key, sealed to a key of the owner. Once a day, because each export is a copy for ever. While the result
 * can be read, repeating the request with the same key returns it.
 */
export async function exportKey(
  ctx: RequestContext & { readonly db: Db },
  agentId: AgentId,
  owner: Owner,
  publicKey: string,
  signature: OwnerSignature | undefined,
): Promise<WalletTransaction> {
  requireOwnerWallet(await getAgent(ctx, agentId), owner)
  return ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, agentId, owner)
    const last = await findLastWalletTransaction(tx, agentId, 'export')
    if (last !== undefined && ctx.clock.now().getTime() - last.createdAt.getTime() < DAY) {
      if (isReadableWith(last, publicKey)) return last
      throw exportedToday(last)
    }
    return requestWalletTransaction(
      ctx,
      tx,
      agentId,
      { kind: 'export', publicKey },
      requireSignature(agent, signature),
    )
  })
}

const isReadableWith = ({ task, status, sealedExport }: WalletTransaction, publicKey: string): boolean =>
  task.kind === 'export' && task.publicKey === publicKey && (!hasEnded({ status }) || sealedExport !== null)

/** Throws when the wallet cannot send this now. */
export async function requireFunds(reader: WalletReader, address: string, task: Transfer): Promise<void> {
  if (task.to === address) throw badDestination('it is the server wallet itself')
  const rejection = await reader.rejectionReason(task.asset, task.to, task.amount ?? undefined)
  if (rejection !== undefined) throw badDestination(rejection)
  const [held, { rentExempt }, cost] = await Promise.all([
    readHeld(reader, address, task),
    reader.costs(),
    reader.sendCost(task.asset, task.to),
  ])
  const sent = amountToSend(task, held, { cost, rentExempt })
  if ('missing' in sent) throw underfunded(sent.missing, address)
}

/** A user who signed in is not enough: the worker verifies a wallet’s signature by itself. */
function requireOwnerWallet({ ownerWallet }: Agent, { wallets }: Owner): void {
  if (ownerWallet !== null && wallets.some(({ key }) => key === ownerWallet)) return
  throw new ApiError(
    'forbidden',
    ownerWallet === null
      ? 'This agent has no owner wallet, so nobody can sign for this. Set a withdraw address, and withdraw to it with the API key.'
      : 'Only the owner wallet of this agent can do this. Sign the request with it.',
    { code: ownerWallet === null ? 'owner_wallet_required' : 'not_your_agent' },
  )
}

const badAsset = (mint: string, reason: string): ApiError =>
  new ApiError('invalid', `The wallet cannot send ${mint}: ${reason}.`, {
    code: 'bad_asset',
    details: [{ path: 'asset', message: reason }],
  })

const badDestination = (reason: string): ApiError =>
  new ApiError('invalid', `This address cannot receive the transfer: ${reason}. Send to a wallet address.`, {
    code: 'bad_destination',
    details: [{ path: 'to', message: reason }],
  })

const noWithdrawAddress = (pendingUntil: Date | undefined): ApiError =>
  new ApiError(
    'conflict',
    pendingUntil === undefined
      ? 'This agent has no withdraw address. Its owner sets one with PUT /api/agents/{agent_id}/withdraw-address.'
      : `The withdraw address is in effect from ${pendingUntil.toISOString()} on. Withdraw then.`,
    { code: 'no_withdraw_address' },
  )

const exportedToday = ({ createdAt }: WalletTransaction): ApiError =>
  new ApiError(
    'conflict',
    `An export of this wallet’s key was requested at ${createdAt.toISOString()}. It can be exported once in 24 hours.`,
    { code: 'exported_today' },
  )

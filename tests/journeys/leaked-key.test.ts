import { isWrite } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { HOUR } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import type { Address } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OrderWorld, type Parties, PRICE, startOrderWorld } from '../orders/order-world.ts'
import { PAYEE } from '../support/agent-wallets.ts'
import { asHeaders, makeUser, signed } from '../support/makers.ts'
import { keepMining } from '../support/market-chains.ts'
import { until } from '../support/until.ts'

/** Under load the worker and the chain share the machine with other tests. */
const ROOM = 240_000
const LONG_WAIT = { withinMs: ROOM, everyMs: 100 }
/** Without other funds in the treasury, a payout waits for the one before it to settle. */
const FLOAT = 1_000_000_000n
const EARNED = (PRICE * 9n) / 10n

let world: OrderWorld
let stopMining: (() => Promise<void>) | undefined
beforeAll(async () => {
  world = await startOrderWorld({}, { float: FLOAT })
  await world.market.startWorker()
}, ROOM)
afterAll(async () => {
  await stopMining?.()
  await world?.stop()
}, ROOM)

interface Sale {
  readonly parties: Parties
  readonly orderId: string
}

/** A delivered order of an agent whose API key somebody else has. */
async function makeSale(): Promise<Sale> {
  const parties = await world.newParties()
  return { parties, orderId: await world.walk(parties, 'delivered') }
}

/** The API key tries everything that could get the agent's money, or the agent. */
async function useLeakedKey({ parties: { seller }, orderId }: Sale) {
  const client = world.market.client()
  const bearer = { bearer: seller.apiKey }
  const thief = evmSigner()
  const patch = (body: object) => client.patch('/api/agents/me', body, bearer)

  for (let toggles = 0; toggles < 5; toggles++)
    for (const payout_address_base of [null, thief.address])
      expect((await patch({ payout_address_base })).status).toBe(200)
  const everything = { payout_chain: 'base', payout_wallet: (await solanaSigner()).address }
  expect((await patch({ ...everything, payout_address_base: thief.address })).status).toBe(200)

  const proof = await signed(thief, `agents.owner:${seller.id}`, world.market.wallTime())
  expect((await patch({ owner_wallet: thief.address, ...proof })).status).toBe(409)
  const { token } = await makeUser(world.market, { wallets: [thief.address] })
  const linked = await client.post('/api/agents/link', { api_key: seller.apiKey }, { bearer: token })
  expect(linked.status).toBe(409)
  const retried = await client.post(`/api/orders/${orderId}/request-payout-retry`, {}, bearer)
  expect(retried.status).toBe(400)
  const own = `/api/agents/${seller.id}`
  const forOwners = [
    await client.patch(own, { payout_by_owner_only: false }, bearer),
    await client.post(`${own}/payout-change/confirm`, { address: thief.address }, bearer),
    await client.post(`${own}/payout-change/cancel`, {}, bearer),
    await client.post(`${own}/rotate-key`, {}, bearer),
    await client.post('/api/agents/recover', {}, bearer),
    await client.put(`${own}/withdraw-address`, { address: PAYEE }, bearer),
    await client.post(`${own}/wallet/send`, { chain: 'solana', asset: 'SOL', to: PAYEE }, bearer),
    await client.post(`${own}/export-key`, { public_key: 'A'.repeat(43) }, bearer),
  ]
  for (const { status } of forOwners) expect(status).toBe(403)
  return { thief: thief.address, patch }
}

const receives = (address: string, micros: bigint) =>
  until(
    `${address} received ${micros}`,
    async () => (await world.chain.balanceOf(address as Address)) === micros,
    LONG_WAIT,
  )

const approve = ({ parties: { buyer }, orderId }: Sale) => world.act(buyer, orderId, 'approve')

test('leaked API key: the owner is paid as before for 24 hours, ends it with one call, and loses nothing', {
  timeout: 2 * ROOM,
}, async () => {
  const { market, chain } = world
  const [meanwhile, ended, ignored] = [await makeSale(), await makeSale(), await makeSale()]
  const thieves = [await useLeakedKey(meanwhile), await useLeakedKey(ended), await useLeakedKey(ignored)]
  const [ofMeanwhile, ofEnded, ofIgnored] = thieves.map(({ thief }) => thief as Address)
  // Blocks are made from now on, so that payments and payouts become final.
  stopMining = keepMining(world.chain)

  expect((await approve(meanwhile)).status).toBe(200)
  await receives(meanwhile.parties.seller.owner.address, EARNED)

  await world.advance(23 * HOUR)
  const { id, owner } = ended.parties.seller
  const session = asHeaders(await signed(owner, 'session', market.wallTime()))
  const { data } = (await market.client().get('/api/notifications', { headers: session })).body
  const warnings = data.filter(({ kind }: { kind: string }) => kind === 'agent.payout_changed')
  expect(warnings).toHaveLength(1)
  expect(warnings[0].body).toContain(ofEnded?.toLowerCase())
  const proof = await signed(owner, `agents.rotate-key:${id}`, market.wallTime())
  expect((await market.client().post(`/api/agents/${id}/rotate-key`, proof)).status).toBe(200)
  expect((await thieves[1]?.patch({ description: 'Changed by the old key.' }))?.status).toBe(401)

  await world.advance(2 * HOUR)
  for (const sale of [ended, ignored]) expect((await approve(sale)).status).toBe(200)
  await receives(owner.address, EARNED)
  // Without that call the change is in effect after 24 hours.
  await receives(ofIgnored ?? '', EARNED)
  expect(await chain.balanceOf(ofMeanwhile ?? '0x')).toBe(0n)
  expect(await chain.balanceOf(ofEnded ?? '0x')).toBe(0n)
})

test('leaked API key: the writes that it can call are those that this file and docs/contract/agents.md consider', () => {
  const writes = operationList.filter(
    (operation) => isWrite(operation) && operation.callers.includes('agent'),
  )
  expect(writes.map(({ id }) => id).sort()).toEqual([
    // Pays with a transfer that the owner's wallet made, not named for anything else; the agent is paid 7 days later
    // unless that wallet signs.
    'acceptClaim',
    // Cancels and refunds go to who paid.
    'actOnOrder',
    // Uses or answers what was paid for; no money moves to another address.
    'answerGeneration',
    // Ends what the agent posted itself; nothing is paid before a claim is accepted.
    'cancelBounty',
    // Offers the agent's work.
    'claimBounty',
    'createBounty',
    'createOrder',
    'createReview',
    'createService',
    'deleteService',
    'deliverOrder',
    // Deposits a transfer that the owner's wallet made. It is paid out to that wallet only.
    'depositToEarn',
    'generate',
    // Purchases are paid by who signs or names the payment; the key alone proves no payer.
    'hireService',
    // Spends SOL of the agent's wallet on the agent's own token and identity, once each; nobody else gets it.
    'launchToken',
    'mintIdentity',
    'payService',
    'payServiceV1',
    'quoteOrder',
    // Ends a claim on what the agent posted itself.
    'rejectClaim',
    // Sends to the payout settings in effect.
    'retryPayout',
    'sendMessage',
    'testDelivery',
    // Payout settings change after 24 hours.
    'updateAgent',
    'updateMyAgent',
    // Hides or shows public work; nothing is lost.
    'updatePortfolio',
    'updateService',
    // Stores a file up to the quota of the day.
    'uploadFile',
    // Sends to the address that the owner set 24 hours ago, and to no other.
    'withdraw',
    'withdrawClaim',
    // Pays to a wallet that paid one of the agent's deposits, and to no other.
    'withdrawFromEarn',
  ])
})

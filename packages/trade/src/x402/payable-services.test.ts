import type { ListingId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { deactivateListing } from '@market/offers/listings'
import { agentActor } from '@market/testing/make-actor'
import { makeListing } from '@market/testing/make-listing'
import { makeAgent, makeListedAgent, makeProfile, makeSolanaWallet } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPayable } from './payable-services.ts'
import { withOpen } from './test-networks.ts'

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = withOpen(marketContext({ db: database.db }), 'base-mainnet', 'solana-mainnet')
  stop = database.stop
})
afterAll(() => stop())

const SHORT_WAIT_MAX = usdc(25_000_000n)
const networksOf = async (id: ListingId, app = ctx) =>
  (await findPayable(app, id, SHORT_WAIT_MAX)).quote.ways.map(({ network }) => network)

const onBaseAlone = () => withOpen(ctx, 'base-mainnet')
const NOT_FOUND = { kind: 'not_found', extra: { code: 'service_not_found' } }
const NOT_PAYABLE = { kind: 'not_found', extra: { code: 'not_payable' } }

test('fixed price: payable at price plus 10 % on the networks where the agent has an address and a chain is configured', async () => {
  const { agent } = await makeListedAgent(ctx)
  const listing = await makeListing(ctx, agent.id, { price: usdc(333_333n) })
  const found = await findPayable(ctx, listing.id, SHORT_WAIT_MAX)
  expect(found.listing.id).toBe(listing.id)
  expect(found.quote).toMatchObject({
    subject: `service:${listing.id}`,
    path: `/api/x402/discover/${listing.id}`,
    due: 366_667n,
  })
  expect(await networksOf(listing.id)).toEqual(['solana-mainnet', 'base-mainnet'])
  expect(await networksOf(listing.id, onBaseAlone())).toEqual(['base-mainnet'])
})

test('an agent of a user or a Solana wallet is payable only on Solana until it sets an EVM address', async () => {
  const owners = [
    { kind: 'user', profile: makeProfile() },
    { kind: 'wallet', wallet: await makeSolanaWallet() },
  ] as const
  for (const owner of owners) {
    const { agent } = await makeAgent(ctx, { owner })
    const { id } = await makeListing(ctx, agent.id)
    expect(await networksOf(id)).toEqual(['solana-mainnet'])
    await expect(findPayable(onBaseAlone(), id, SHORT_WAIT_MAX)).rejects.toMatchObject(NOT_PAYABLE)
    const payout_address_base = `0x${'ab'.repeat(20)}`
    await ctx.db.updateTable('agents').set({ payout_address_base }).where('id', '=', agent.id).execute()
    expect(await networksOf(id, onBaseAlone())).toEqual(['base-mainnet'])
  }
})

test('returns 404 for a service that is unknown, inactive or of an agent without an owner', async () => {
  const { agent } = await makeListedAgent(ctx)
  const gone = await makeListing(ctx, agent.id)
  await deactivateListing(ctx, gone.id, agentActor(agent.id))
  const hidden = await makeListing(ctx, (await makeAgent(ctx)).agent.id)
  for (const id of [gone.id, hidden.id, `svc_1_${'0'.repeat(17)}` as ListingId])
    await expect(findPayable(ctx, id, SHORT_WAIT_MAX)).rejects.toMatchObject(NOT_FOUND)
})

test('rejects a service without a fixed price or without an open network', async () => {
  const { agent } = await makeListedAgent(ctx)
  for (const said of [
    { priceType: 'quote', price: null },
    { priceType: 'quote' },
    { priceType: 'monthly', quotaLimit: 4 },
  ] as const) {
    const { id } = await makeListing(ctx, agent.id, said)
    const apiError = findPayable(ctx, id, SHORT_WAIT_MAX)
    await expect(apiError).rejects.toMatchObject(NOT_PAYABLE)
    await expect(apiError).rejects.toThrow('Only services with a fixed price can')
  }
  const { id } = await makeListing(ctx, agent.id)
  await expect(findPayable(withOpen(ctx), id, SHORT_WAIT_MAX)).rejects.toThrow(
    'no payout address on an open network',
  )
})

import type { Chain } from '@market/core/ports/chain'
import { depositPurpose } from '@market/earn/deposits'
import { usdc } from '@market/kernel/money'
import { getOrder } from '@market/trade/orders'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type BountyFixture, openBountyFixture } from '../bounties/bounty-fixture.ts'
import { CONFIRMATIONS } from '../chains/evm-world.ts'
import { type EarnWorld, newDepositor, startEarnWorld, step, USD } from '../earn/earn-world.ts'
import { newBuyer, PRICE } from '../orders/order-fixture.ts'
import { follow } from '../support/follow.ts'
import { payByTransfer } from '../support/named-transfers.ts'

/** Requests that name a transfer which the worker has read already. */

const NETWORK = 'base-mainnet'

let fixture: BountyFixture
let earn: EarnWorld
beforeAll(async () => {
  fixture = await openBountyFixture()
  earn = await startEarnWorld()
})
afterAll(() => Promise.all([fixture.stop(), earn.stop()]))
beforeEach(() => {
  fixture.chain.required = 1
})

/** How often the request asks the chain about a transfer. */
const lookupsOf = async (chain: Chain, request: () => Promise<unknown>): Promise<number> => {
  const spy = vi.spyOn(chain, 'findTransfer')
  try {
    await request()
    return spy.mock.calls.length
  } finally {
    spy.mockRestore()
  }
}

const readOn = async (blocks: number): Promise<void> => {
  for (let n = 0; n < blocks; n++) fixture.chain.mine([])
  await follow(fixture.ctx, NETWORK)
}

test('pay: a transfer that was read pays the order without a call', async () => {
  const buyer = newBuyer()
  const { id } = await fixture.create(await fixture.makeSeller(), buyer)
  const reference = fixture.send(buyer.wallet.key, PRICE)
  await readOn(1)
  expect(await lookupsOf(fixture.chain, () => fixture.pay(buyer, id, reference))).toBe(0)
  expect((await fixture.read(id)).status).toBe('paid')
})

test('pay: a transfer that waits costs no call, and the order shows how many confirmations are seen and required', async () => {
  fixture.chain.required = 12
  const buyer = newBuyer()
  const { id } = await fixture.create(await fixture.makeSeller(), buyer)
  const reference = fixture.send(buyer.wallet.key, PRICE)
  await readOn(4)
  expect(await lookupsOf(fixture.chain, () => fixture.pay(buyer, id, reference))).toBe(0)
  const { order, awaited } = await getOrder({ ...fixture.ctx, actor: buyer }, buyer, id)
  expect(order.status).toBe('accepted')
  expect(awaited?.depth).toMatchObject({ confirmations: 5, required: 12 })
  await readOn(7)
  fixture.clock.advance(3_000)
  expect(await lookupsOf(fixture.chain, () => fixture.finish())).toBe(0)
  expect((await fixture.read(id)).status).toBe('paid')
})

test('acceptClaim: a transfer that was read accepts the claim without a call', async () => {
  const poster = newBuyer()
  const { id } = await fixture.post(poster)
  const claim = await fixture.claim(await fixture.makeClaimant(), id)
  const reference = fixture.fund(poster)
  await readOn(1)
  expect(await lookupsOf(fixture.chain, () => fixture.accept(poster, claim, reference))).toBe(0)
  expect((await fixture.claimById(id, claim.id))?.status).toBe('accepted')
})

test('registerDeposit: a transfer that was read is a deposit without a call', async () => {
  const { ctx, network, treasury } = earn
  await step(earn)
  const depositor = await newDepositor(earn)
  const amount = usdc(1_000n * USD)
  const reference = await network.transfer(depositor, treasury, amount)
  await network.mine(CONFIRMATIONS)
  await follow(ctx, NETWORK)
  const wanted = { key: undefined, amount, network: NETWORK, reference } as const
  const register = () => payByTransfer(ctx, depositor.actor, depositPurpose, wanted)
  expect(await lookupsOf(ctx.chains[NETWORK], register)).toBe(0)
  expect(await register()).toMatchObject({ reference, amount, status: 'received' })
})

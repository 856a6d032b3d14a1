import { solanaChain } from '@market/chains/solana/solana-chain'
import { isPaymentFinal, parsePurpose } from '@market/money/payments'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { atOnce, openPaymentFixture, outcome, type PaymentFixture } from './payment-fixture.ts'

let world: SolanaWorld
let fixture: PaymentFixture
beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: 20 })
  await world.run(world.issuer, [await world.openAccount(world.issuer, world.treasury.address)])
  fixture = await openPaymentFixture(solanaChain(world.settings))
})
afterAll(async () => {
  await fixture.stop()
  await world.stop()
})

test('Solana: a transfer pays one purpose, unclaimed money is in suspense, and all transfers become final', async () => {
  const [payer, otherUser] = [await world.wallet(1_000n), await world.wallet(50n)]
  const { address } = world.treasury
  const paid = await world.run(payer, [await world.transfer(payer, address, 1_000n)])
  const options = { due: 990n, payers: [payer.address] }
  const outcomes = await atOnce(100, (n) => outcome(fixture.claim(paid, `order:${n}`, options)))
  expect(outcomes.filter((one) => one === 'transfer_used')).toHaveLength(99)
  const winner = `order:${outcomes.findIndex((one) => one !== 'transfer_used')}`
  expect([await fixture.inEscrow(winner), await fixture.inSurplus(paid)]).toEqual([990n, 10n])

  const strange = await world.run(otherUser, [await world.transfer(otherUser, address, 50n)])
  await world.settled(strange, 'finalized')
  expect(await fixture.watch(1)).toBe(1)
  expect(await fixture.inSuspense(strange)).toBe(50n)
  await fixture.recheck()
  expect(await isPaymentFinal(fixture.ctx.db, parsePurpose(winner))).toBe(true)
  expect(await fixture.claim(strange, 'order:late', { due: 50n })).toEqual({ isNew: true })
  expect(await fixture.watch()).toBe(0)
  await fixture.expectExact(await world.usdc.balanceOf(address))
})

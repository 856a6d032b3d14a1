import { solanaChain } from '@market/chains/solana/solana-chain'
import { isPaymentFinal, parsePurpose } from '@market/money/payments'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SolanaWorld, startSolanaWorld } from '../chains/solana-support.ts'
import { atOnce, openTill, outcome, type Till } from './till.ts'

let world: SolanaWorld
let till: Till
beforeAll(async () => {
  world = await startSolanaWorld({ slotTimeMs: 20 })
  await world.run(world.issuer, [await world.openAccount(world.issuer, world.treasury.address)])
  till = await openTill(solanaChain(world.settings))
})
afterAll(async () => {
  await till.stop()
  await world.stop()
})

test('Solana: a transfer pays one purpose, unclaimed money is in suspense, and all transfers become final', async () => {
  const [payer, otherUser] = [await world.wallet(1_000n), await world.wallet(50n)]
  const { address } = world.treasury
  const paid = await world.run(payer, [await world.transfer(payer, address, 1_000n)])
  const ask = { due: 990n, payers: [payer.address] }
  const outcomes = await atOnce(100, (n) => outcome(till.claim(paid, `order:${n}`, ask)))
  expect(outcomes.filter((one) => one === 'transfer_used')).toHaveLength(99)
  const winner = `order:${outcomes.findIndex((one) => one !== 'transfer_used')}`
  expect([await till.inEscrow(winner), await till.inSurplus(paid)]).toEqual([990n, 10n])

  const strange = await world.run(otherUser, [await world.transfer(otherUser, address, 50n)])
  await world.settled(strange, 'finalized')
  expect(await till.watch(1)).toBe(1)
  expect(await till.inSuspense(strange)).toBe(50n)
  await till.recheck()
  expect(await isPaymentFinal(till.ctx.db, parsePurpose(winner))).toBe(true)
  expect(await till.claim(strange, 'order:late', { due: 50n })).toEqual({ isNew: true })
  expect(await till.watch()).toBe(0)
  await till.expectExact(await world.usdc.balanceOf(address))
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BountyFixture, ESCROW, openBountyFixture } from './bounty-fixture.ts'

let fixture: BountyFixture
beforeAll(async () => {
  fixture = await openBountyFixture()
})
afterAll(() => fixture.stop())

const rejection = (code: string) => expect.objectContaining({ extra: expect.objectContaining({ code }) })

test('reorganization: a refunded transfer that the chain drops is not refunded, and again when it comes back', async () => {
  const { poster, bounty, claim } = await fixture.accepted()
  const late = fixture.fund(poster)
  await expect(fixture.accept(poster, claim, late)).rejects.toEqual(rejection('bounty_not_open'))
  expect(await fixture.refundsOf(bounty.id)).toHaveLength(1)
  await fixture.dropLastBlock()
  expect(await fixture.refundsOf(bounty.id)).toEqual([])
  for (let n = 0; n < 5; n++) fixture.chain.mineAgain(0, 0n)
  await fixture.checkIntents()
  expect(await fixture.refundsOf(bounty.id)).toEqual([
    { payee: poster.wallet.key, amount: ESCROW, escrow: 0n },
  ])
  await fixture.expectBalanced()
})

test('reorganization: the bounty of a reversed order waits, and ends when the order is cancelled', async () => {
  const { poster, winner, bounty, orderId } = await fixture.accepted()
  await fixture.deliver({ provider: winner.actor } as never, orderId)
  await fixture.approve(poster, orderId)
  await fixture.dropLastBlock()
  expect((await fixture.read(orderId)).status).toBe('accepted')
  expect((await fixture.bounty(bounty.id)).status).toBe('claimed')
  await fixture.cancel(poster, orderId)
  expect((await fixture.bounty(bounty.id)).status).toBe('cancelled')
  await fixture.expectBalanced()
})

import type { Actor } from '@market/core/context'
import { DAY, HOUR, SECOND } from '@market/kernel/clock'
import type { BountyId } from '@market/kernel/ids'
import { agentActor } from '@market/testing/make-actor'
import { makeListedAgent } from '@market/testing/makers'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newBuyer } from '../orders/order-fixture.ts'
import { newPayment } from '../payments/in-memory-chain.ts'
import { type BountyFixture, ESCROW, openBountyFixture } from './bounty-fixture.ts'
import { bountyFaults } from './bounty-money.ts'

/** More than a sweep reads at once. */
const FAILING = 101

let fixture: BountyFixture
beforeEach(async () => {
  fixture = await openBountyFixture()
})
afterEach(async () => {
  expect(await bountyFaults(fixture.db)).toEqual([])
  await fixture.stop()
})

const rejection = (code: string, message = '') =>
  expect.objectContaining({
    message: expect.stringContaining(message),
    extra: expect.objectContaining({ code }),
  })

test('claim: one in the last hours of the bounty expires with the bounty', async () => {
  const bounty = await fixture.post(newBuyer())
  fixture.clock.advance(30 * DAY - HOUR)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  expect(claim.expiresAt).toEqual(bounty.expiresAt)
})

test('claim: returns 409 bounty_not_open when the bounty is only open because a transfer is waited for', async () => {
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  fixture.clock.advance(30 * DAY - SECOND)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  const payment = newPayment([[poster.wallet.key, ESCROW]])
  await fixture.accept(poster, claim, payment.reference)
  fixture.clock.advance(2 * SECOND)
  await fixture.expire()
  expect((await fixture.bounty(bounty.id)).status).toBe('open')
  await expect(fixture.claim(await fixture.makeClaimant(), bounty.id)).rejects.toEqual(
    rejection('bounty_not_open', 'This bounty has expired'),
  )
  fixture.chain.mine([payment])
  await fixture.checkIntents()
  expect((await fixture.bounty(bounty.id)).status).toBe('claimed')
})

/** The database rejects every change of their rows. The constraint is not checked for the rows that exist. */
const rejectChangesOf = (ids: readonly BountyId[]) =>
  sql`alter table bounties add constraint bounties_unchanged
    check (id <> all (array[${sql.join(ids.map((id) => sql.lit(id)))}])) not valid`.execute(fixture.db)

test.each([
  ['bounties', 30 * DAY],
  ['claims', 24 * HOUR],
] as const)('sweep: 101 %s that fail for ever do not delay another one', async (kind, after) => {
  const [poster, claimant] = [newBuyer(), await fixture.makeClaimant()]
  const make = async () => {
    const { id } = await fixture.post(poster)
    if (kind === 'claims') await fixture.claim(claimant, id)
    return id
  }
  const failing: BountyId[] = []
  for (let n = 0; n < FAILING; n++) failing.push(await make())
  fixture.clock.advance(SECOND)
  const last = await make()
  await rejectChangesOf(failing)
  fixture.clock.advance(after)
  await expect(fixture.expire()).rejects.toThrow('Some bounties could not be expired')
  const { status, pendingClaims } = await fixture.bounty(last)
  expect([status, pendingClaims]).toEqual([kind === 'bounties' ? 'expired' : 'open', 0])
  expect((await fixture.bounty(failing[0] as BountyId)).status).toBe('open')
})

const byKey = (agentId: `agt_${string}`, owner: ReturnType<typeof newBuyer>): Actor =>
  ({ ...agentActor(agentId), ownerWallets: [owner.wallet] }) as Actor

test('accept: an unconfirmed late transfer that an API key names is not promised a refund, and gets none', async () => {
  const owner = newBuyer()
  const { agent } = await makeListedAgent(fixture.ctx)
  const key = byKey(agent.id, owner)
  const bounty = await fixture.postAs(key, owner.wallet)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  await fixture.cancelBounty(key, bounty.id)
  const payment = newPayment([[owner.wallet.key, ESCROW]])
  await expect(fixture.accept(key, claim, payment.reference)).rejects.toEqual(
    rejection('bounty_not_open', 'Your transfer was not used'),
  )
  fixture.chain.mine([payment])
  await fixture.checkIntents()
  expect(await fixture.refundsOf(bounty.id)).toEqual([])
})

test('accept: an unconfirmed late transfer of a wallet that signed is promised a refund, and gets it', async () => {
  const poster = newBuyer()
  const bounty = await fixture.post(poster)
  const claim = await fixture.claim(await fixture.makeClaimant(), bounty.id)
  await fixture.cancelBounty(poster, bounty.id)
  const payment = newPayment([[poster.wallet.key, ESCROW]])
  await expect(fixture.accept(poster, claim, payment.reference)).rejects.toEqual(
    rejection('bounty_not_open', 'Your transfer is refunded'),
  )
  fixture.chain.mine([payment])
  await fixture.checkIntents()
  expect(await fixture.refundsOf(bounty.id)).toEqual([
    { payee: poster.wallet.key, amount: ESCROW, escrow: 0n },
  ])
})

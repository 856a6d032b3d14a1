import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { Refusal } from '@market/kernel/refusal'
import type { Rail } from '../ports/rail.ts'
import { refuseWhileStopped } from '../switches/index.ts'
import { capReason } from './hold-reason.ts'
import { isWaiting, type Payout } from './payout.ts'
import type { PayoutContext } from './rails.ts'
import { findNonce, lockNetwork, lockPayout, saveNonce, savePayout } from './store.ts'

const FROZEN = 'Payouts are frozen'

/**
 * Lets a payout through or holds it: freeze, caps and nonce are one decision of one transaction. Whoever turned the
 * freeze on and was answered can be sure that nothing is let through after that.
 */
export async function admit(ctx: PayoutContext, rail: Rail, payout: Payout): Promise<Payout> {
  const counted = await rail.firstNonce()
  try {
    return await transact(ctx.db, async (tx) => {
      const locked = await lockPayout(tx, payout.id)
      if (!isWaiting(locked)) return locked
      await refuseWhileStopped(tx, ['freeze_payouts'])
      await lockNetwork(tx, payout.network)
      const why = await capReason(ctx, tx, locked)
      if (why !== undefined) return savePayout(tx, payout.id, { state: 'held', reason: why }, ctx.clock.now())
      return counted === null
        ? savePayout(tx, payout.id, { state: 'numbered' }, ctx.clock.now())
        : numberIt(ctx, tx, rail, locked, counted)
    })
  } catch (error) {
    if (!(error instanceof Refusal && error.extra.code === 'freeze_payouts')) throw error
    return hold(ctx, payout, FROZEN)
  }
}

/**
 * A nonce belongs to its payout for ever, whoever signs it and however often. Only we give them out, so a chain that
 * counts more than we gave has seen payments our books do not know: nothing leaves until a person has explained them.
 */
async function numberIt(
  ctx: PayoutContext,
  tx: Tx,
  rail: Rail,
  { id, network }: Payout,
  counted: bigint,
): Promise<Payout> {
  const book = (await findNonce(tx, network)) ?? { treasury: rail.treasury, next: counted }
  assert(book.treasury === rail.treasury, `${network} is paid from ${book.treasury}`)
  if (counted > book.next) {
    const reason = `The chain counts ${counted} payments of the treasury, the books ${book.next}`
    return savePayout(tx, id, { state: 'held', reason }, ctx.clock.now())
  }
  await saveNonce(tx, network, { ...book, next: book.next + 1n })
  return savePayout(tx, id, { state: 'numbered', nonce: book.next }, ctx.clock.now())
}

export async function hold(ctx: PayoutContext, payout: Payout, reason: string): Promise<Payout> {
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (!isWaiting(locked)) return locked
    return savePayout(tx, payout.id, { state: 'held', reason }, ctx.clock.now())
  })
}

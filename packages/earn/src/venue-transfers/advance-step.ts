import { type Attempt, advance, type Rules } from '@market/core/outgoing'
import type { NamedTransaction } from '@market/core/ports/transactions'
import type { Venue, VenueStep } from '@market/core/ports/venue'
import { isStopped, payoutSwitches, turnOnByRule, VENUE_SWITCH } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { HOUR } from '@market/kernel/clock'
import type { EarnContext } from '../pools/index.ts'
import { findVenueTransfer, lockVenueTransfer } from './store.ts'
import { actionIdOf, moveOf, type VenueTransfer } from './venue-transfer.ts'

/** How long after its transaction a return that failed is tried again. */
export const RETRY_RETURN_MS = 1 * HOUR

export type StepOutcome =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'final'; readonly reference: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** Does the next step of the transaction of a move. */
export async function advanceStep(
  ctx: EarnContext,
  venue: Venue,
  move: VenueTransfer,
  step: VenueStep,
): Promise<StepOutcome> {
  const action = { id: actionIdOf(move, step), kind: 'venue', account: venue.wallet } as const
  const progress = await advance(ctx, venue, action, rulesOf(ctx, venue, move, step))
  return progress.kind === 'final' || progress.kind === 'failed' ? progress : { kind: 'waiting' }
}

const rulesOf = (ctx: EarnContext, venue: Venue, move: VenueTransfer, step: VenueStep): Rules<never> => ({
  isStopped: () => transact(ctx.db, (tx) => isStopped(tx, switchesOf(move))),
  async sign({ nonce, replaced }) {
    const call = { step, amount: move.amount, actionId: actionIdOf(move, step) }
    return {
      transaction: await venue.sign(call, nonce ?? 0n, replaced),
      async admit(tx) {
        const locked = await lockVenueTransfer(tx, move.id)
        return locked.state === move.state && !(await isStopped(tx, switchesOf(move)))
      },
    }
  },
  mayRepeat: (newest) => isRetried(ctx, step, newest),
  onLost: (tx, lost) => stopForUnknown(ctx, tx, venue, lost),
})

/** Only a return is tried again: money in the wallet must come back to the treasury. */
const isRetried = ({ clock }: EarnContext, step: VenueStep, { createdAt }: Attempt): boolean =>
  step === 'return' && clock.now().getTime() - createdAt.getTime() > RETRY_RETURN_MS

/** The database lost a move, or the wallet has another use: what the wallet holds is not what the books say. */
async function stopForUnknown(
  ctx: EarnContext,
  tx: Tx,
  { wallet, network }: Venue,
  lost: readonly NamedTransaction[],
): Promise<void> {
  const unknown: NamedTransaction[] = []
  for (const one of lost) {
    const isKnown = one.actionId !== null && (await findVenueTransfer(tx, moveOf(one.actionId))) !== undefined
    if (!isKnown) unknown.push(one)
  }
  if (unknown.length === 0) return
  const names = unknown.map(({ reference, nonce }) => reference ?? `nonce ${nonce}`).slice(0, 5)
  await turnOnByRule(ctx, tx, {
    name: VENUE_SWITCH,
    reason: `The wallet ${wallet} on ${network} sent what no book knows: ${names.join(', ')}`,
  })
}

/** The switches that stop payouts of a network stop its venue wallet as well. */
// fix: venues-held
const switchesOf = ({ network }: VenueTransfer) => [VENUE_SWITCH, ...payoutSwitches(network)] as const

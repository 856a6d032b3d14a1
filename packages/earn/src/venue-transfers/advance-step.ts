import { type Attempt, advance, type Rules } from '@market/core/outgoing'
import type { NamedTransaction } from '@market/core/ports/transactions'
import type { Venue, VenueStep } from '@market/core/ports/venue'
import { findStopping, isStopped, payoutSwitches, turnOnByRule, VENUE_SWITCH } from '@market/core/switches'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { HOUR } from '@market/kernel/clock'
import type { EarnContext } from '../pools/index.ts'
import type { VenueTransferState } from './states.ts'
import { findVenueTransfer, lockVenueTransfer } from './store.ts'
import { actionIdOf, transferAndStepOf, type VenueTransfer } from './venue-transfer.ts'

/** How long after its transaction a return that failed is tried again. */
export const RETRY_RETURN_MS = 1 * HOUR

export type StepOutcome =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'final'; readonly reference: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** Does the next step of the transaction of a venue transfer. */
export async function advanceStep(
  ctx: EarnContext,
  venue: Venue,
  transfer: VenueTransfer,
  step: VenueStep,
): Promise<StepOutcome> {
  const action = { id: actionIdOf(transfer, step), kind: 'venue', account: venue.wallet } as const
  const progress = await advance(ctx, venue, action, rulesOf(ctx, venue, transfer, step))
  return progress.kind === 'final' || progress.kind === 'failed' ? progress : { kind: 'waiting' }
}

const rulesOf = (ctx: EarnContext, venue: Venue, transfer: VenueTransfer, step: VenueStep): Rules<never> => ({
  isStopped: () => transact(ctx.db, (tx) => isStopped(tx, switchesOf(transfer))),
  async sign({ nonce, replaced }) {
    assert(nonce !== null, 'the account of a venue has nonces')
    const amount = transfer.amount ?? transfer.askedShares
    assert(amount !== null, `${transfer.id} has an amount`)
    const call = { step, amount, actionId: actionIdOf(transfer, step) }
    return {
      transaction: await venue.sign(call, nonce, replaced),
      async authorize(tx) {
        const locked = await lockVenueTransfer(tx, transfer.id)
        return locked.state === transfer.state && (await findStopping(tx, switchesOf(transfer))) === undefined
      },
    }
  },
  mayRepeat: (newest) => isRetried(ctx, step, newest),
  onLost: (tx, lost) => stopForUnknown(ctx, tx, venue, lost),
})

/** Only a return is tried again: money in the wallet must come back to the treasury. */
const isRetried = ({ clock }: EarnContext, step: VenueStep, { createdAt }: Attempt): boolean =>
  step === 'return' && clock.now().getTime() - createdAt.getTime() > RETRY_RETURN_MS

/** The states in which a step that the database lost is taken as done when the venue transfer comes to it. */
const LOST_IN: Readonly<Record<VenueStep, readonly VenueTransferState[]>> = {
  approve: ['funding', 'approving'],
  deposit: ['approving', 'depositing'],
  return: ['returning', 'held'],
  redeem: ['withdrawing'],
}

/** The database lost a venue transfer or its last steps, or the wallet has another use: it does not hold what the ledger says. */
async function stopForUnknown(
  ctx: EarnContext,
  tx: Tx,
  { wallet, network }: Venue,
  lost: readonly NamedTransaction[],
): Promise<void> {
  const unknown: NamedTransaction[] = []
  for (const one of lost) {
    const named = one.actionId === null ? undefined : transferAndStepOf(one.actionId)
    const transfer = named && (await findVenueTransfer(tx, named.id))
    if (named === undefined || transfer === undefined || !LOST_IN[named.step].includes(transfer.state))
      unknown.push(one)
  }
  if (unknown.length === 0) return
  const names = unknown.map(({ reference, nonce }) => reference ?? `nonce ${nonce}`).slice(0, 5)
  await turnOnByRule(ctx, tx, {
    name: VENUE_SWITCH,
    reason: `The wallet ${wallet} on ${network} sent what the database does not know: ${names.join(', ')}`,
  })
}

/** The switches that stop payouts of a network stop its venue wallet as well. */
// fix: venues-held
const switchesOf = ({ network }: VenueTransfer) => [VENUE_SWITCH, ...payoutSwitches(network)] as const

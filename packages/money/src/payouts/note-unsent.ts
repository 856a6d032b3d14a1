import { transact } from '@market/database/transact'
import { NONCE_USED } from './give-up-nonce.ts'
import type { Payout } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { lockPayout, savePayout } from './store.ts'

const LONGEST = 200

/**
 * Writes down what the nodes said against a signed payout, so that whoever wonders why it does not leave can read it;
 * undefined when they said nothing. Nothing is decided by it.
 */
export async function noteUnsent(
  ctx: PayoutContext,
  { id, round, reason: before }: Payout,
  said: string | undefined,
): Promise<void> {
  if (said === undefined && before === null) return
  const reason = said === undefined ? null : oneLine(said)
  await transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, id)
    if (locked.state !== 'signed' || locked.round !== round || locked.reason === reason) return
    // Its nonce is being given up, and that goes by this reason and its time.
    if (locked.reason === NONCE_USED) return
    await savePayout(tx, id, { state: 'signed', reason }, ctx.clock.now())
  })
}

/** Nodes say what they like, and the database takes no text with a zero in it. */
const oneLine = (said: string): string => said.replaceAll(/[\p{Cc}\s]+/gu, ' ').slice(0, LONGEST)

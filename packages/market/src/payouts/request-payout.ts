import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Needs } from '../context.ts'
import { type Account, payable, post } from '../ledger/index.ts'
import type { Payout, PayoutKind } from './payout.ts'
import { findBySubject, insertPayout } from './store.ts'

/**
 * Decides that money will leave, in the transaction that is its reason: the ledger sets it aside and the intent is
 * written down. Asked again for the same subject it is the same payout.
 */
export async function requestPayout(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  wanted: { network: Network; kind: PayoutKind; subject: string; payee: string; amount: Usdc; from: Account },
): Promise<Payout> {
  const { network, kind, subject, payee, amount } = wanted
  const payout = await insertPayout(tx, {
    id: ctx.ids.next('pay'),
    network,
    kind,
    subject,
    payee,
    amount,
    state: 'queued',
    reason: null,
    nonce: null,
    finalReference: null,
    createdAt: ctx.clock.now(),
  })
  if (payout === undefined) {
    const known = await findBySubject(tx, kind, subject)
    assert(known.amount === amount && known.network === network, `${kind} of ${subject} is one and the same`)
    return known
  }
  await post(ctx, tx, {
    key: `payout.requested:${payout.id}`,
    reason: `${kind}.requested`,
    subject,
    network,
    moves: [{ from: wanted.from, to: payable(network, payout.id), amount }],
  })
  return payout
}

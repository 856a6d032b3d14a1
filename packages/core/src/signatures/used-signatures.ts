import { inBatches } from '@market/database/in-batches'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { earlier, HOUR } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import type { Wallet } from '../ports/signatures.ts'
import { deleteSignaturesBefore, insertSignature } from './store.ts'

/** A signature is valid for five minutes; the row is kept for a day to investigate incidents. */
const RETENTION_MS = 24 * HOUR
/** Rejects a signature that was used before. The primary key decides between concurrent requests. */
export async function markSignatureUsed(
  ctx: Needs<'clock'>,
  tx: Tx,
  used: { wallet: Wallet; purpose: string; signedAtMs: number },
): Promise<void> {
  const isFirst = await insertSignature(tx, {
    walletKey: used.wallet.key,
    purpose: used.purpose,
    signedAtMs: used.signedAtMs,
    at: ctx.clock.wallTime(),
  })
  if (!isFirst) {
    throw new ApiError(
      'unauthenticated',
      'This signature was already used. Sign again with a new wallet_sig_ts.',
      { code: 'signature_used' },
    )
  }
}

export const deleteOldSignatures = ({ db, clock }: Needs<'db' | 'clock'>): Promise<number> => {
  const before = earlier(clock.wallTime(), RETENTION_MS)
  return inBatches((limit) => deleteSignaturesBefore(db, before, limit))
}

import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Needs } from '../context.ts'
import type { Wallet } from '../ports/signatures.ts'
import { insertSignature } from './store.ts'

/** An action-bound signature counts once: the row's primary key decides between any number of uses at once. */
export async function useSignature(
  ctx: Needs<'clock'>,
  tx: Tx,
  used: { wallet: Wallet; purpose: string; signedAtMs: number },
): Promise<void> {
  const first = await insertSignature(tx, {
    walletKey: used.wallet.key,
    purpose: used.purpose,
    signedAtMs: used.signedAtMs,
    at: ctx.clock.now(),
  })
  if (!first) {
    throw new ApiError(
      'unauthenticated',
      'This signature was already used. Sign again with a new wallet_sig_ts.',
      {
        code: 'signature_used',
      },
    )
  }
}

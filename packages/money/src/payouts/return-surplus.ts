import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { minus, type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { surplus } from '../ledger/index.ts'
import { formatPurpose, type Purpose } from '../payments/index.ts'
import { requestPayout } from './request-payout.ts'

/** What was paid too much goes back when it is more than sending it is worth. */
const WORTH_SENDING = usdc(100_000n)

interface Paid {
  readonly network: Network
  /** Under which it is paid back, once. */
  readonly subject: string
  readonly purpose: Purpose
  readonly due: Usdc
}

/** Decided with the payment itself; like every payout it waits until the payment is final. */
export async function returnSurplus(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { network, subject, purpose, due }: Paid,
  { reference, amount, payer }: IncomingTransfer,
): Promise<void> {
  const tooMuch = minus(amount, due)
  if (tooMuch <= WORTH_SENDING) return
  assert(payer !== null, `${formatPurpose(purpose)} was paid by a wallet`)
  const from = surplus(network, reference)
  await requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject,
    payee: payer,
    amount: tooMuch,
    from,
    purpose,
  })
}

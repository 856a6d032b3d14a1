import type { Needs } from '@market/core/context'
import type { Depth } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import type { Usdc } from '@market/kernel/money'
import { ANY_AMOUNT, openIntent, type Submission } from '@market/money/payments'
import { type Core, type Payment, purposeOf } from '../order.ts'
import { policyOf } from '../policy.ts'

/** A transfer that the buyer names, the wallets that may have made it, and how deep it was when it was looked up. */
export interface NamedTransfer extends Payment {
  readonly payers: readonly string[]
  readonly depth?: Depth | null
}

/** Opens the payment intent of an order. `submission` is the signed payment to observe, if there is one. */
export async function openOrderIntent(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  order: Core & { readonly price?: Usdc | undefined },
  { network, reference, payers, depth = null }: NamedTransfer,
  submission?: Submission,
): Promise<void> {
  await openIntent(ctx, tx, {
    purpose: purposeOf(order),
    network,
    reference,
    payers,
    due: order.price ?? ANY_AMOUNT,
    notBefore: policyOf(order).earliestPayment(order.createdAt),
    submission: submission ?? null,
    depth,
  })
}

import type { Tx } from '@market/database/transact'
import { HOUR, later } from '@market/kernel/clock'
import type { Order } from './order.ts'
import { isPayerUnknown } from './store.ts'

/** How long who paid has to show that it was them, when somebody else may have named their payment. */
const CONTEST_MS = 1 * HOUR

type Paid = Extract<Order, { readonly paidAt: Date }>

/**
 * Until when a program's order may turn out to be paid by somebody else's transfer; undefined when it cannot. Until then
 * nothing leaves for it: everybody can read a transaction's hash.
 */
export async function contestedUntil(tx: Tx, order: Paid): Promise<Date | undefined> {
  if (order.paymentMethod !== 'x402') return undefined
  return (await isPayerUnknown(tx, order.id)) ? later(order.paidAt, CONTEST_MS) : undefined
}

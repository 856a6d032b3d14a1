import { depositPayment, undoDeposit } from '@market/earn/deposits'
import type { Purposes } from '@market/money/payments'
import { orderPayment, undoPayment } from '@market/trade/orders'
import { purchasePayment, undoRegistration } from '@market/trade/x402'
import { acceptancePayment, undoRefund } from '@market/work/acceptances'

/** What can be paid for: what becomes of it when the payment is confirmed, fails or is reversed. */
export const PURPOSES: Purposes = {
  order: { ...orderPayment, onReversed: undoPayment },
  bounty: { ...acceptancePayment, onReversed: undoRefund },
  earn_deposit: { ...depositPayment, onReversed: undoDeposit },
  purchase: purchasePayment,
  registration: { ...purchasePayment, onReversed: undoRegistration },
}

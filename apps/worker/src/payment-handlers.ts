import { depositPurpose } from '@market/earn/deposits'
import { intentHandler, type Purposes } from '@market/money/payments'
import { orderPayment } from '@market/trade/orders'
import { purchasePayment, undoRegistration } from '@market/trade/x402'
import { claimPurpose } from '@market/work/acceptances'

/** What can be paid for: what becomes of it when the payment is confirmed, fails or is reversed. */
export const PURPOSES: Purposes = {
  order: orderPayment,
  bounty: intentHandler(claimPurpose),
  earn_deposit: intentHandler(depositPurpose),
  purchase: purchasePayment,
  registration: { ...purchasePayment, onReversed: undoRegistration },
}

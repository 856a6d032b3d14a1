import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'

/** Signs with the current terms and the next nonce. No other transaction of the account is pending. */
export const signNow = async (facilitator: Facilitator, payment: SignedPayment) => {
  const terms = await facilitator.readTerms()
  return facilitator.sign(payment, terms, terms.minedNonce)
}

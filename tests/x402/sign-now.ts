import type { Facilitator, SignedPayment } from '@market/core/ports/facilitator'

/** Signs with the current terms and the next nonce. */
export const signNow = async (facilitator: Facilitator, payment: SignedPayment) => {
  const terms = await facilitator.readTerms()
  return facilitator.sign(payment, terms, terms.nextNonce)
}

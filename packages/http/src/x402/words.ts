/** What a program has to know to buy, in a few sentences: said alike wherever it is said. */
export const HOW_TO_BUY =
  'Ask for a service without a payment to get a 402 with the price: 110 % of the list price, in USDC. ' +
  'Pay it and ask again with the payment and a brief; the order is placed with the answer, and its result_url says how it goes. ' +
  'x402 version 2 clients pay by PAYMENT-SIGNATURE; whoever has sent a transfer names it in X-PAYMENT.'

/** Clients reject by themselves what costs more than they were told to spend. */
export const SPENDING =
  'Many x402 clients pay at most 1 USD unless they are told otherwise: allow what the service costs (in @x402/fetch, spendControls.maxAmountPerPayment).'

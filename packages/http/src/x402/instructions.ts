/** How to buy by x402, the same in every document. */
export const HOW_TO_BUY =
  'Request a service without a payment to get a 402 response with the price in USDC: 110 % of the listed price. ' +
  'Pay it and send the request again with the payment and a brief. The response has the order and its result_url, where you read the result. ' +
  'x402 version 2 clients pay with PAYMENT-SIGNATURE. For a transfer that you already made, send its transaction hash as X-PAYMENT.'

/** Clients have a spending limit of their own. */
export const SPENDING =
  'Many x402 clients pay at most 1 USD by default. Raise the limit to the price of the service (in @x402/fetch, spendControls.maxAmountPerPayment).'

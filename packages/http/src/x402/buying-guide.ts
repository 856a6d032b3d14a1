/** How an API client buys a service. Every document uses this text. */
export const HOW_TO_BUY =
  'Request a service without a payment to get a 402 response with the price: 110 % of the list price, in USDC. ' +
  'Repeat the request with the payment and a brief. The response contains the order and a result_url that returns its status and result. ' +
  'x402 version 2 clients pay with PAYMENT-SIGNATURE. If you already sent a transfer, put its hash in X-PAYMENT.'

/** Many clients have a spending limit of their own. */
export const SPENDING_LIMIT =
  'Many x402 clients pay at most 1 USD by default. Raise the limit to the price of the service (in @x402/fetch, spendControls.maxAmountPerPayment).'

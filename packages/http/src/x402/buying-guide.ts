/** How an API client buys a service. Every document uses this text. */
export const HOW_TO_BUY =
  'Request a service without a payment to get a 402 response with the price: 110 % of the list price, in USDC. ' +
  'Repeat the request with the payment and a brief. The response contains the order and a result_url that returns its status and result. ' +
  'x402 version 2 clients pay with PAYMENT-SIGNATURE. If you already sent a transfer, put its hash in X-PAYMENT.'

/** What protects a payment that only its public hash names, and until when its seller is not paid. */
export const WHO_PAID =
  'A transaction hash is public. When only the hash is sent, the seller is paid 7 days later (24 hours for small amounts and sellers with several payers) unless the wallet that paid signs the purchase. ' +
  'If another request names the same transfer within 15 minutes of its block, the payment is contested: the signature of the payer decides, and an undelivered purchase without a signature is refunded to the payer after 7 days. ' +
  'Transfers of a wallet that is linked to an account, or that has an unpaid order or an open bounty, need the signature. The field proof of the 402 response has the details.'

/** Many clients have a spending limit of their own. */
export const SPENDING_LIMIT =
  'Many x402 clients pay at most 1 USD by default. Raise the limit to the price of the service (in @x402/fetch, spendControls.maxAmountPerPayment).'

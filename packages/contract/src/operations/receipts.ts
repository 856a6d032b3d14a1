import { z } from 'zod'
import { operation } from '../define.ts'
import { OrderId } from '../schemas/order.ts'
import { SignedReceipt } from '../schemas/receipt.ts'
import { text } from '../schemas/text.ts'

const WHAT =
  'A JWS (`typ` `receipt+jwt`, `alg` EdDSA) by a key of `/.well-known/jwks.json`: parties, service, amounts, transfers, times and SHA-256 of the deliverables. An order has one once its payment is final.'

const NO_RECEIPT = ['order_not_paid', 'payment_not_final', 'payment_contested'] as const

export const getReceipt = operation({
  id: 'getReceipt',
  group: 'Orders',
  position: 35,
  method: 'GET',
  path: '/api/orders/{order_id}/receipt',
  summary: 'Get the receipt of an order',
  description: `${WHAT} Only its parties and operators can get it.`,
  callers: ['wallet', 'user', 'agent', 'admin_key'],
  limit: 'read',
  input: z.strictObject({ order_id: OrderId }),
  output: SignedReceipt,
  errors: { 404: ['order_not_found'], 409: NO_RECEIPT },
})

export const getPurchasedReceipt = operation({
  id: 'getPurchasedReceipt',
  group: 'x402',
  position: 45,
  method: 'GET',
  path: '/api/x402/orders/{order_id}/receipt',
  summary: 'Get the receipt of an order bought by x402',
  description: `${WHAT} The access token \`t\` of the order’s \`status_url\` is the only credential.`,
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    order_id: OrderId,
    t: text({ min: 1, max: 64 }).describe('The access token of the URL'),
  }),
  output: SignedReceipt,
  errors: { 404: ['order_not_found', 'access_token_expired'], 409: NO_RECEIPT },
})

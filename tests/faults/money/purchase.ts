import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Caller, ClientResponse, Request } from './client.ts'
import { acknowledge, type RunContext } from './order-actions.ts'
import type { Prepared } from './test-chain.ts'
import { briefOf, type TestOrder } from './test-order.ts'

const LONG_TIMEOUT_MS = 20_000
const PAUSE_MS = 500

/** Written out here and not taken from the product: a tenth on top, rounded up. */
export const dueOf = (price: bigint): bigint => (price * 11n + 9n) / 10n

const pathOf = ({ listing }: TestOrder): string => `/api/x402/pay?service_id=${listing.id}`

const isWaiting = ({ status, body }: ClientResponse): boolean =>
  status === 202 || (status === 402 && body.error === 'transaction_not_found_yet')

/** The payment and the words in one request, as often as it takes until there is an order or no hope. */
async function purchase(
  { client }: RunContext,
  testOrder: TestOrder,
  request: Pick<Request, 'caller' | 'purpose' | 'payment'>,
) {
  const deadline = performance.now() + LONG_TIMEOUT_MS
  for (;;) {
    // A key of a caller without an account has at least 32 characters.
    const key = testOrder.key.padStart(32, '0')
    const asked = {
      method: 'POST',
      path: pathOf(testOrder),
      key,
      body: { brief: briefOf(testOrder) },
    } as const
    const answer = await acknowledge(testOrder, 'purchase', {
      key,
      sending: client.send({ ...asked, ...request }),
    })
    if (answer?.status === 200) {
      testOrder.orderId = answer.body.data.order_id as string
      return true
    }
    if (answer === undefined || !isWaiting(answer) || performance.now() > deadline) return false
    await wait(PAUSE_MS)
  }
}

/** The paying wallet signs the request, so that other callers cannot use its transfer. */
export function purchaseByTransfer(
  context: RunContext,
  testOrder: TestOrder,
  { network, reference }: Prepared,
) {
  const brief = createHash('sha256').update(briefOf(testOrder)).digest('hex')
  return purchase(context, testOrder, {
    caller: { wallet: testOrder.buyer },
    purpose: `x402.pay:${network}:${reference}:${testOrder.listing.id}:${brief}`,
    payment: { 'x-payment': reference, 'x-payment-network': network },
  })
}

const ANONYMOUS: Caller = { anonymous: true }

/** Names a transfer without a signature: its payer, or another caller who found it on the chain. */
export const purchaseByHash = (context: RunContext, testOrder: TestOrder, { network, reference }: Prepared) =>
  purchase(context, testOrder, {
    caller: ANONYMOUS,
    payment: { 'x-payment': reference, 'x-payment-network': network },
  })

/** A quote, a signature, and the same request again with it. Some clients send it twice at once. */
export async function purchaseBySignature(
  context: RunContext,
  testOrder: TestOrder,
  isTwice: boolean,
): Promise<boolean> {
  const body = { brief: briefOf(testOrder) }
  const quote = await context.client.send({
    method: 'POST',
    path: pathOf(testOrder),
    caller: ANONYMOUS,
    body,
  })
  const required = quote?.headers.get('payment-required')
  if (required === undefined || required === null) return false
  const payment = { 'payment-signature': await testOrder.buyer.authorize(testOrder.network, required) }
  const times = isTwice ? 2 : 1
  const purchased = await Promise.all(
    Array.from({ length: times }, () => purchase(context, testOrder, { caller: ANONYMOUS, payment })),
  )
  return purchased.some(Boolean)
}

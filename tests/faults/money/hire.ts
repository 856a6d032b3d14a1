import { createHash } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Answer, Caller, Request } from './client.ts'
import { acknowledge, type Stage } from './plays.ts'
import type { Prepared } from './side.ts'
import { briefOf, type Story } from './story.ts'

const LONG_TIMEOUT_MS = 20_000
const PAUSE_MS = 500

/** Written out here and not taken from the product: a tenth on top, rounded up. */
export const dueOf = (price: bigint): bigint => (price * 11n + 9n) / 10n

const pathOf = ({ listing }: Story): string => `/api/x402/pay?service_id=${listing.id}`

const isWaiting = ({ status, body }: Answer): boolean =>
  status === 202 || (status === 402 && body.error === 'transaction_not_found_yet')

/** The payment and the words in one request, as often as it takes until there is an order or no hope. */
async function hire(
  { client }: Stage,
  story: Story,
  request: Pick<Request, 'caller' | 'purpose' | 'payment'>,
) {
  const deadline = performance.now() + LONG_TIMEOUT_MS
  for (;;) {
    const { key } = story
    const asked = { method: 'POST', path: pathOf(story), key, body: { brief: briefOf(story) } } as const
    const answer = await acknowledge(story, 'hire', { key, asking: client.ask({ ...asked, ...request }) })
    if (answer?.status === 200) {
      story.orderId = answer.body.data.order_id as string
      return true
    }
    if (answer === undefined || !isWaiting(answer) || performance.now() > deadline) return false
    await wait(PAUSE_MS)
  }
}

/** The wallet that paid signs for the payment, so that nobody who only saw it on the chain has it. */
export function hireByTransfer(stage: Stage, story: Story, { network, reference }: Prepared) {
  const brief = createHash('sha256').update(briefOf(story)).digest('hex')
  return hire(stage, story, {
    caller: { wallet: story.buyer },
    purpose: `x402.pay:${network}:${reference}:${story.listing.id}:${brief}`,
    payment: { 'x-payment': reference, 'x-payment-network': network },
  })
}

const NOBODY: Caller = { nobody: true }

/** Somebody who saw the transfer on the chain purchases with it. */
export const hireByTheft = (stage: Stage, story: Story, { network, reference }: Prepared) =>
  hire(stage, story, {
    caller: NOBODY,
    payment: { 'x-payment': reference, 'x-payment-network': network },
  })

/** A quote, a signature, and the same request again with it. Some clients send it twice at once. */
export async function hireBySignature(stage: Stage, story: Story, isTwice: boolean): Promise<boolean> {
  const body = { brief: briefOf(story) }
  const quote = await stage.client.ask({ method: 'POST', path: pathOf(story), caller: NOBODY, body })
  const required = quote?.headers.get('payment-required')
  if (required === undefined || required === null) return false
  const payment = { 'payment-signature': await story.buyer.authorize(story.network, required) }
  const times = isTwice ? 2 : 1
  const hired = await Promise.all(
    Array.from({ length: times }, () => hire(stage, story, { caller: NOBODY, payment })),
  )
  return hired.some(Boolean)
}

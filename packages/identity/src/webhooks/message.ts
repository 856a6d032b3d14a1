import { createHmac } from 'node:crypto'
import type { WebhookSecrets } from '../agents/index.ts'

/** One webhook. Every attempt sends the same body, signed with the time of the attempt. */
export interface Message {
  readonly agentId: string
  readonly deliveryId: string
  readonly event: string
  readonly orderId: string
  readonly data: unknown
}

export const bodyOf = ({ event, orderId, data }: Message): string =>
  JSON.stringify({ event, order_id: orderId, data })

/** `t=<unix seconds>,v1=<hex>` over `<t>.<raw body>`, with the whole secret, including `whsec_`, as the HMAC key. */
export function signatureOf(secret: string, body: string, at: Date): string {
  const t = Math.floor(at.getTime() / 1_000)
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  return `t=${t},v1=${v1}`
}

export function headersOf(
  message: Message,
  body: string,
  { current, previous }: WebhookSecrets,
  at: Date,
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'AgentMarket-Webhooks/1.0',
    'X-Market-Event': message.event,
    'X-Market-Agent-Id': message.agentId,
    'X-Market-Delivery-Id': message.deliveryId,
    ...(current !== null && { 'X-Market-Signature': signatureOf(current, body, at) }),
    ...(previous !== null && { 'X-Market-Signature-Previous': signatureOf(previous, body, at) }),
  }
}

import { EVENTS, type EventName } from '@market/contract/events'
import { jsonOf } from '../openapi-schema.ts'
import { idOf } from './example-values.ts'
import { exampleOf } from './examples.ts'

const WHEN: Readonly<Record<EventName, string>> = {
  'order.created': 'An order was placed',
  'order.paid': 'The payment of an order was confirmed',
  'order.revision_requested': 'The buyer asks for a revision',
  'order.disputed': 'The buyer disputes the delivery, or the payment is contested',
  'order.completed': 'An order was completed',
  'order.cancelled': 'An order was cancelled',
  'order.message': 'The buyer wrote a message',
  'order.payout_sent': 'The transaction of a payout is final',
  'order.payout_failed': 'A payout failed or waits for you',
  'bounty.accepted': 'Your claim on a bounty was accepted',
  'bounty.claim_rejected': 'The poster rejected the claim, or accepted another one',
  'workspace.generate': 'The buyer of a workspace requests a generation',
  'webhook.test': 'You tested your endpoint',
}

const header = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
})

const headersOf = (event: EventName) => [
  header('X-Market-Event', 'The event', event),
  header('X-Market-Agent-Id', 'Your agent', idOf('agent')),
  header(
    'X-Market-Delivery-Id',
    'The same for every attempt: handle it once',
    '5f0c21aa-9d4f-4c6b-8e2a-177350000001',
  ),
  header(
    'X-Market-Signature',
    '`t=<Unix seconds>,v1=<hex>`: v1 is the HMAC-SHA-256 of `<t>.<raw body>` with `webhook_secret`. Reject a `t` older than 5 minutes.',
    `t=1794784877,v1=${'9f86d081884c7d65'.repeat(4)}`,
  ),
  {
    ...header(
      'X-Market-Signature-Previous',
      'The same by the webhook secret before the present one, for an hour after it was replaced (`rotate-key`).',
      `t=1794784877,v1=${'2c26b46b68ffc68f'.repeat(4)}`,
    ),
    required: false,
  },
]

/** Their `order_id` is empty. */
const WITHOUT_ORDER: readonly EventName[] = ['bounty.claim_rejected', 'webhook.test']

/** The events that are sent to `endpoint_url` of an agent, as OpenAPI 3.1 describes webhooks. */
export const webhooks = (baseUrl: string): Record<string, unknown> =>
  Object.fromEntries(
    (Object.keys(EVENTS) as EventName[]).map((event) => [event, { post: webhookOf(event, baseUrl) }]),
  )

function webhookOf(event: EventName, baseUrl: string): Record<string, unknown> {
  const data = EVENTS[event]
  const hasOrder = !WITHOUT_ORDER.includes(event)
  return {
    operationId: `webhook.${event}`,
    summary: WHEN[event],
    description: `Sent to \`endpoint_url\` of the agent. Respond 2xx within 5 seconds; the next attempts follow after 1 and 4 seconds. [Rules](${baseUrl}/docs/contract/events#receive-webhooks)`,
    parameters: headersOf(event),
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: {
            type: 'object',
            required: ['event', 'order_id', 'data'],
            properties: {
              event: { const: event },
              order_id: { type: 'string', description: 'Empty for events without an order' },
              data: jsonOf(data, 'output'),
            },
          },
          example: { event, order_id: hasOrder ? idOf('order') : '', data: exampleOf(data) },
        },
      },
    },
    responses: { '2XX': { description: 'Received' } },
  }
}

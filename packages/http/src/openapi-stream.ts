import { operations } from '@market/contract/operations'
import { failuresOf } from './openapi-failures.ts'

/** The event stream is not an operation with one response, so it is described here. */
export const streamPath = (baseUrl: string) => ({
  '/api/events/stream': {
    get: {
      operationId: 'streamEvents',
      tags: [operations.listEvents.group],
      summary: 'Stream events',
      description:
        'Server-sent events: `id` is the cursor, `event` the name, `data` the event as GET /api/events returns it. `role=buyer` streams the events of the orders you bought. A comment is sent every 15 seconds. Reconnect with `Last-Event-ID`.',
      security: [{ apiKey: [] }, { idpToken: [] }, { wallet: [] }],
      parameters: [
        { name: 'role', in: 'query', required: false, schema: { type: 'string', enum: ['seller', 'buyer'] } },
        { name: 'after', in: 'query', required: false, schema: { type: 'string', pattern: '^[0-9]{1,18}$' } },
        { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
      ],
      'x-codeSamples': [
        {
          lang: 'shell',
          label: 'curl',
          source: `curl -N '${baseUrl}/api/events/stream?after=41' \\\n  -H "Authorization: Bearer $MARKET_API_KEY"`,
        },
      ],
      responses: {
        200: {
          description: 'Events, until the client or the server closes the stream',
          content: { 'text/event-stream': {} },
        },
        ...failuresOf(operations.listEvents, { 429: ['too_many_streams'] }),
      },
    },
  },
})

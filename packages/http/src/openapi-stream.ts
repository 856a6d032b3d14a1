import { FAILURES } from '@market/contract/errors'
import { operations } from '@market/contract/operations'
import { statusesOf } from './openapi-statuses.ts'

/** The one route that is no call with one answer. */
export const STREAM_PATH = {
  '/api/events/stream': {
    get: {
      operationId: 'streamEvents',
      tags: [operations.listEvents.group],
      summary: 'Be told what happens to your agent as it happens',
      description:
        'Server-sent events: `id` is the cursor, `event` the name, `data` the event as GET /api/events gives it. A comment comes every 15 seconds. Reconnect with `Last-Event-ID`.',
      security: [{ apiKey: [] }],
      parameters: [
        { name: 'after', in: 'query', required: false, schema: { type: 'string', pattern: '^[0-9]{1,18}$' } },
        { name: 'Last-Event-ID', in: 'header', required: false, schema: { type: 'string' } },
      ],
      responses: {
        200: { description: 'Events, until either side ends', content: { 'text/event-stream': {} } },
        ...Object.fromEntries(
          statusesOf(operations.listEvents).map((status) => [
            status,
            {
              description: FAILURES[status],
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Failure' } } },
            },
          ]),
        ),
      },
    },
  },
}

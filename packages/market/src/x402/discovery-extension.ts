/** What a service takes and gives, in the words of the Bazaar: the same at every door, for a payer repeats it. */
const BRIEF = 'A square logo for a bakery, warm colours'

export const DISCOVERY_EXTENSION = {
  info: {
    input: { type: 'http', method: 'POST', bodyType: 'json', body: { brief: BRIEF } },
    output: {
      type: 'json',
      example: { order_id: 'ord_...', status: 'paid', result_url: 'https://...' },
    },
  },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      input: {
        type: 'object',
        properties: {
          type: { type: 'string', const: 'http' },
          method: { type: 'string', enum: ['POST'] },
          bodyType: { type: 'string', enum: ['json'] },
          body: {
            type: 'object',
            properties: { brief: { type: 'string' }, requirements: { type: 'object' } },
            required: ['brief'],
          },
        },
        required: ['type', 'method', 'bodyType', 'body'],
        additionalProperties: false,
      },
      output: {
        type: 'object',
        properties: { type: { type: 'string' }, example: { type: 'object' } },
        required: ['type'],
      },
    },
    required: ['input'],
  },
} as const

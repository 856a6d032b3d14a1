interface Declared {
  /** An example of the request body, and its fields. */
  readonly body: Readonly<Record<string, unknown>>
  readonly properties: Readonly<Record<string, { readonly type: string }>>
  readonly output: Readonly<Record<string, unknown>>
}

/** Input and output in the Bazaar's format. */
const declare = ({ body, properties, output }: Declared) => ({
  info: {
    input: { type: 'http', method: 'POST', bodyType: 'json', body },
    output: { type: 'json', example: output },
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
          body: { type: 'object', properties, required: Object.keys(body) },
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
})

/** The same on every route of a service, because the payer sends it back. */
export const DISCOVERY_EXTENSION = declare({
  body: { brief: 'A square logo for a bakery, warm colours' },
  properties: { brief: { type: 'string' }, requirements: { type: 'object' } },
  output: { order_id: 'ord_...', status: 'paid', result_url: 'https://...' },
})

export const REGISTRATION_EXTENSION = declare({
  body: { name: 'Logo Painter', description: 'Draws logos from a few words.' },
  properties: { name: { type: 'string' }, description: { type: 'string' } },
  output: { success: true, data: { agent_id: 'agt_...', api_key: 'market_...' } },
})

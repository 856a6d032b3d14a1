import type { CatalogReader } from '@market/handlers/x402/catalog'
import type { CatalogItem } from '@market/handlers/x402/catalog-item'

/** What a service asks its buyers. */
export type Questions =
  Awaited<ReturnType<CatalogReader['questions']>> extends ReadonlyMap<unknown, infer Q> ? Q : never

const BRIEF = {
  type: 'string',
  minLength: 1,
  maxLength: 3000,
  description: 'The work order or prompt; a purchase without a brief is rejected',
} as const

/** What a service adds to the document at most. */
const MAX_BYTES = 2 * 1024

/** The path of one service. Where it would be too long, it is without the description or the requirement fields. */
export function servicePath(
  item: CatalogItem,
  questions: Questions,
): readonly [path: string, { readonly get: unknown }] {
  const { line: description } = item
  const shorter = [{ description, questions }, { questions }, { description }]
  const fits = (part: Partial<Longest>) =>
    Buffer.byteLength(JSON.stringify(pathOf(item, part)).slice(1, -1)) < MAX_BYTES
  return pathOf(item, shorter.find(fits) ?? {})
}

interface Longest {
  readonly description: string
  readonly questions: Questions
}

const pathOf = (item: CatalogItem, part: Partial<Longest>) =>
  [`/api/x402/discover/${item.id}`, { get: serviceOperation(item, part) }] as const

const serviceOperation = (item: CatalogItem, { description, questions = [] }: Partial<Longest>) => ({
  operationId: `x402_${item.id}`,
  summary: item.title,
  ...(description !== undefined && { description }),
  tags: [item.category],
  security: [],
  'x-payment-info': {
    price: { mode: 'fixed', currency: 'USD', amount: item.priceUsd },
    protocols: [{ x402: {} }],
  },
  parameters: PARAMETERS,
  requestBody: { required: false, content: { 'application/json': { schema: bodyOf(questions) } } },
  responses: RESPONSES,
})

/** Many clients cannot send a body with GET, so `brief` is also accepted in the query and in a header. */
const PARAMETERS = [
  {
    name: 'brief',
    in: 'query',
    required: false,
    description: '`brief`, for requests without a body',
    schema: { type: 'string' },
  },
  {
    name: 'X-Market-Brief',
    in: 'header',
    required: false,
    description: '`brief`, percent-encoded, for requests without a body',
    schema: { type: 'string' },
  },
]

function bodyOf(questions: Questions) {
  const answers = questions.map(({ label, type, options, placeholder }) => [
    label,
    {
      type: type === 'number' ? 'number' : 'string',
      ...(type === 'url' && { format: 'uri' }),
      ...(options !== undefined && { enum: options }),
      ...(placeholder !== undefined && { description: placeholder }),
    },
  ])
  const required = questions.filter((question) => question.required).map(({ label }) => label)
  return {
    type: 'object',
    required: ['brief'],
    properties: {
      brief: BRIEF,
      requirements: {
        type: 'object',
        description: 'Structured requirement fields; may substitute for brief on services that use them',
        ...(answers.length > 0 && { properties: Object.fromEntries(answers) }),
        ...(required.length > 0 && { required }),
      },
    },
  }
}

const RESPONSES = {
  200: {
    description: 'Payment accepted, order created',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/PurchasedResource' } } },
  },
  402: {
    description: 'Payment required: x402 payment requirements (USDC on Solana or Base)',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/PaymentRequired' } } },
  },
}

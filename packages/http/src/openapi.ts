import {
  type FileField,
  isWrite,
  type Operation,
  RECENT_LOGIN_SECONDS,
  routesOf,
} from '@market/contract/define'
import { LIMITS } from '@market/contract/limits'
import { operationList } from '@market/contract/operations'
import { Challenge, PendingPurchase } from '@market/contract/schemas/x402'
import type { z } from 'zod'
import { credentialFields, isSigned } from './openapi-credentials.ts'
import { describeFailure, FAILURE, failuresOf } from './openapi-failures.ts'

import { jsonOf, namedSchemas } from './openapi-schema.ts'
import { streamPath } from './openapi-stream.ts'
import { exampleBody, exampleInput, exampleOf } from './reference/examples.ts'
import { introduction, TAGS } from './reference/introduction.ts'
import { codeSamples } from './reference/samples.ts'
import { webhooks } from './reference/webhooks.ts'
import { type JsonSchema, propertiesOf, wireOf } from './wire.ts'

/** The whole REST API as OpenAPI 3.1, generated from the contract that serves it. */
export function openApi(baseUrl: string): Record<string, unknown> {
  const byPath = Map.groupBy(operationList.flatMap(routesOf), (operation) => operation.path)
  const paths = Object.fromEntries(
    [...byPath].map(([path, operations]) => [
      path,
      Object.fromEntries(
        operations.map((operation) => [operation.method.toLowerCase(), describe(operation, baseUrl)]),
      ),
    ]),
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Market',
      version: '1.0.0',
      description: introduction(baseUrl),
    },
    servers: [{ url: baseUrl }],
    tags: TAGS,
    externalDocs: { url: `${baseUrl}/docs/guides`, description: 'Guides' },
    paths: { ...paths, ...streamPath(baseUrl) },
    webhooks: webhooks(baseUrl),
    components: { schemas: { ...namedSchemas(), Failure: FAILURE }, securitySchemes: SECURITY },
  }
}

const SECURITY = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An agent’s API key, `market_…`' },
  idpToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'An identity-provider access token',
  },
  wallet: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Market-Wallet-Sig',
    description:
      'A wallet signature over the text of GET /api/auth/message; `wallet`, `wallet_sig`, `wallet_sig_ts` and `wallet_chain` as headers (X-Market-Wallet, -Wallet-Sig, -Wallet-Sig-Ts, -Wallet-Chain), query or body fields',
  },
  adminKey: { type: 'http', scheme: 'bearer', description: 'An operator’s key, `adm_…`' },
} as const

const SCHEME_OF = {
  agent: 'apiKey',
  user: 'idpToken',
  admin: 'idpToken',
  wallet: 'wallet',
  admin_key: 'adminKey',
} as const

/** The specification writes `include_claims=1`. */
function inQuery(schema: ReturnType<typeof propertiesOf>[string] | undefined) {
  if (schema?.type !== 'boolean') return schema
  const { type, ...rest } = schema
  // fix: boolean-as-number
  return { ...rest, anyOf: [{ type }, { type: 'integer', enum: [0, 1] }] }
}

function describe(operation: Operation, baseUrl: string): Record<string, unknown> {
  const example = exampleInput(operation)
  const schema = jsonOf(operation.input, 'input')
  const wire = wireOf(operation)
  const properties = propertiesOf(schema)
  const required = new Set(schema.required ?? [])
  const credentials = Object.entries(credentialFields(operation)).filter(([name]) => !(name in properties))
  const paidQuery = wire.hasBody ? paidQueryOf(operation, properties, wire.path) : []
  const parameters = [
    ...wire.path.map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: properties[name],
      example: example[name],
    })),
    ...[...wire.query.keys()]
      // A query cannot contain an object. A purchase by GET takes it from its body.
      .filter((name) => properties[name]?.type !== 'object')
      .map((name) => ({
        name,
        in: 'query',
        required: required.has(name),
        schema: inQuery(properties[name]),
        ...(name in example && { example: example[name] }),
      })),
    ...paidQuery.map(([name, field]) => ({ name, in: 'query', required: false, schema: field })),
    ...(wire.hasBody
      ? []
      : credentials.map(([name, field]) => ({ name, in: 'query', required: false, schema: field }))),
    ...(isWrite(operation) ? [IDEMPOTENCY_KEY] : []),
    ...(operation.payment ? PAYMENT_HEADERS : []),
  ]
  const body =
    wire.hasBody && !operation.file
      ? bodySchema(
          schema,
          wire.path,
          Object.fromEntries(credentials),
          paidQuery.map(([name]) => name),
        )
      : undefined
  return {
    operationId: operationIdOf(operation),
    tags: [operation.group],
    summary: operation.summary,
    description: descriptionOf(operation, baseUrl),
    security: operation.callers.map((kind) => (kind === 'anonymous' ? {} : { [SCHEME_OF[kind]]: [] })),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.file && { requestBody: { required: true, content: form(operation.file) } }),
    ...(body && {
      requestBody: {
        required: (body.required ?? []).length > 0,
        content: json(body, without(example, wire.path)),
      },
    }),
    responses: responsesOf(operation),
    'x-codeSamples': codeSamples(baseUrl, operation),
  }
}

/**
 * The fields that a purchase with a body also takes from the query: all of them where every request is a purchase, else
 * those that only a purchase has, such as `pay`.
 */
// fix: paid-query
function paidQueryOf(
  { payment }: Operation,
  own: Readonly<Record<string, JsonSchema>>,
  inPath: readonly string[],
): [string, JsonSchema][] {
  if (payment === undefined) return []
  return Object.entries(propertiesOf(jsonOf(payment.input, 'input'))).filter(
    ([name, { type }]) =>
      type === 'string' && !inPath.includes(name) && (payment.when === 'always' || !(name in own)),
  )
}

/** Other routes of an operation need ids of their own: `hireService.get./api/x402/discover`. */
const operationIdOf = (operation: Operation): string => {
  const original = operationList.find(({ id }) => id === operation.id)
  const isOriginal = original?.path === operation.path && original.method === operation.method
  return isOriginal ? operation.id : `${operation.id}.${operation.method.toLowerCase()}.${operation.path}`
}

const header = (name: string, description: string) => ({
  name,
  in: 'header',
  required: false,
  description,
  schema: { type: 'string' },
})

const PAYMENT_HEADERS = [
  header(
    'X-PAYMENT',
    'The transaction hash or signature of a transfer you made, or an x402 version 1 payment',
  ),
  header('PAYMENT-SIGNATURE', 'An x402 version 2 payment'),
  header('X-Payment-Network', 'The network of `X-PAYMENT`; required for `alt-mainnet`'),
  header('X-Payment-Claim', 'The claim of the quote that the transfer refers to'),
  header('X-Market-Brief', '`brief`, percent-encoded, where no body is sent'),
]

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'Makes the call safe to repeat for 24 hours. At least 32 characters without credentials',
  schema: { type: 'string', minLength: 1, maxLength: 128 },
}

function descriptionOf(operation: Operation, baseUrl: string): string {
  const { max, windowSeconds } = LIMITS[operation.limit]
  return [
    operation.description,
    `At most ${max} calls per ${windowSeconds} seconds and address.`,
    operation.recentLogin === true &&
      `A user needs a login at most ${RECENT_LOGIN_SECONDS / 60} minutes old (\`auth_time\`).`,
    isSigned(operation) &&
      (operation.purpose === undefined
        ? 'A wallet signs the purpose `session`.'
        : `A wallet signs the purpose \`${operation.purpose}\`${operation.payment?.when === 'always' ? '' : ', once'}.`),
    `[Error codes](${baseUrl}/docs/contract/errors).`,
  ]
    .filter(Boolean)
    .join(' ')
}

function bodySchema(
  schema: JsonSchema,
  pathKeys: readonly string[],
  credentials: Readonly<Record<string, JsonSchema>>,
  alsoInQuery: readonly string[],
): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => !pathKeys.includes(name)),
  )
  return {
    ...schema,
    properties: { ...properties, ...credentials },
    required: (schema.required ?? []).filter((name) => ![...pathKeys, ...alsoInQuery].includes(name)),
  }
}

const enveloped = (operation: Operation, output: z.ZodType) => {
  const data = jsonOf(output, 'output')
  if (operation.isBare === true) return data
  return {
    type: 'object',
    required: ['success', 'data', ...Object.keys(operation.beside?.shape ?? {})],
    properties: {
      success: { const: true },
      data,
      ...(operation.beside && jsonOf(operation.beside, 'output').properties),
    },
  }
}

function responsesOf(operation: Operation): Record<string, unknown> {
  const { payment } = operation
  const own = enveloped(operation, operation.output)
  const isAlsoSold = payment !== undefined && payment.when !== 'always'
  const success = isAlsoSold ? { anyOf: [own, enveloped(operation, payment.output)] } : own
  const pending = payment
    ? { type: 'object', properties: { success: { const: true }, data: jsonOf(PendingPurchase, 'output') } }
    : own
  return {
    [operation.status ?? 200]: { description: 'Success', content: json(success, exampleBody(operation)) },
    ...(operation.laterStatus !== undefined && {
      [operation.laterStatus]: { description: 'Accepted, completed later', content: json(pending) },
    }),
    ...(payment?.replayOutput && {
      200: { description: 'Replayed', content: json(enveloped(operation, payment.replayOutput)) },
    }),
    ...failuresOf(operation),
    ...(payment && {
      402: {
        description: describeFailure(operation, 402),
        content: json(jsonOf(Challenge, 'output'), exampleOf(Challenge)),
      },
    }),
  }
}

const json = (schema: unknown, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})

const without = (fields: Readonly<Record<string, unknown>>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))

/** A form with one file, as OpenAPI 3.1 describes bytes. */
const form = ({ name, description }: FileField) => ({
  'multipart/form-data': {
    schema: {
      type: 'object',
      required: [name],
      properties: { [name]: { type: 'string', contentMediaType: 'application/octet-stream', description } },
    },
  },
})

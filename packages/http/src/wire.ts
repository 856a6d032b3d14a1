import { hasBody, type Operation, pathKeysOf } from '@market/contract/define'
import { z } from 'zod'
import { CREDENTIAL_FIELDS } from './credentials.ts'

/** Which fields of the flat input are sent in the path, in the query and in the body. */
export interface Wire {
  readonly path: readonly string[]
  readonly query: ReadonlyMap<string, QueryKind>
  readonly hasBody: boolean
  /** Links to public pages get parameters of others, such as `utm_source`, so unknown ones are ignored there. */
  readonly ignoresUnknown: boolean
  /** A purchase reads its query as part of the payment, so that the body overrides the query with any method. */
  readonly isPurchase: boolean
}

type QueryKind = 'number' | 'boolean' | 'array' | 'string'

export interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly [keyword: string]: unknown
}

/** The properties of an object, or of all the objects a union offers. */
export function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  const branches = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].map(propertiesOf)
  return Object.assign({}, ...branches, schema.properties)
}

const propertiesByInput = new WeakMap<Operation['input'], ReturnType<typeof propertiesOf>>()

/** Each input is described once: that is most of what a start of the server costs. */
export function propertiesOfInput({ input }: Operation): ReturnType<typeof propertiesOf> {
  const properties =
    propertiesByInput.get(input) ?? propertiesOf(z.toJSONSchema(input, { io: 'input' }) as JsonSchema)
  propertiesByInput.set(input, properties)
  return properties
}

export function wireOf(operation: Operation): Wire {
  const properties = propertiesOfInput(operation)
  const path = pathKeysOf(operation)
  const inQuery = hasBody(operation) ? [] : Object.entries(properties).filter(([key]) => !path.includes(key))
  const query = new Map(inQuery.map(([key, schema]) => [key, kindOf(schema)]))
  const ignoresUnknown = operation.method === 'GET' && operation.callers.includes('anonymous')
  return {
    path,
    hasBody: hasBody(operation),
    query,
    ignoresUnknown,
    isPurchase: operation.payment?.when === 'always',
  }
}

function kindOf(schema: JsonSchema): QueryKind {
  switch (schema.type) {
    case 'number':
    case 'integer':
      return 'number'
    case 'boolean':
    case 'array':
      return schema.type
    default:
      return 'string'
  }
}

interface RequestParts {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/** Builds the flat input. The path is applied last, so that a body can never override it. */
export function gather(wire: Wire, parts: RequestParts): Record<string, unknown> {
  const query = parts.query as Readonly<Record<string, string | readonly string[]>>
  // A DELETE may have credentials in its body, because URLs are logged.
  const input: Record<string, unknown> = {
    ...(wire.isPurchase && credentialsIn(query)),
    ...bodyOf(parts.body),
  }
  if (!wire.hasBody && !wire.isPurchase) {
    for (const [key, raw] of Object.entries(query))
      if (!wire.ignoresUnknown || wire.query.has(key) || CREDENTIAL_FIELDS.has(key))
        input[key] = decode(wire.query.get(key), raw)
  }
  const params = parts.params as Readonly<Record<string, string>>
  for (const key of wire.path) input[key] = params[key]
  return input
}

const credentialsIn = (query: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(query).filter(([key]) => CREDENTIAL_FIELDS.has(key)))

/** A body that is not an object becomes the unknown field `body`, so that parsing rejects it. */
function bodyOf(body: unknown): object {
  if (body === undefined || body === null) return {}
  return typeof body === 'object' && !Array.isArray(body) ? body : { body }
}

function decode(kind: QueryKind | undefined, raw: string | readonly string[]): unknown {
  if (kind === 'array') return typeof raw === 'string' ? raw.split(',').filter((part) => part !== '') : raw
  if (typeof raw !== 'string') return raw
  if (kind === 'number') return /^-?\d{1,20}(\.\d{1,20})?$/.test(raw) ? Number(raw) : raw
  if (kind === 'boolean') return BOOLEANS.get(raw) ?? raw
  return raw
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
])

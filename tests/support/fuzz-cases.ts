import type { Operation } from '@market/contract/define'
import fc from 'fast-check'
import { HOSTILE_BODIES, hostileValue, jsonText, nastyText } from './hostile-values.ts'
import { hasBody, pathKeysOf, requestOf } from './operation-request.ts'
import { allowedBy, inputSchemaOf, type Schema, validInputs } from './schema-arbitraries.ts'

export interface FuzzCase {
  readonly input: Readonly<Record<string, unknown>>
  /** A body sent instead of the input's. */
  readonly body: string | Buffer | undefined
  /** Query text added as it is. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
}

/** Node rejects to send what is no header, so that what remains is everything a header can hold. */
const asHeader = (text: string): string => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 2_000)
const headerValue = nastyText.map(asHeader)

const hostileHeaders: fc.Arbitrary<Record<string, string>> = fc
  .constantFrom(
    'authorization',
    'idempotency-key',
    'x-market-wallet',
    'x-market-wallet-sig',
    'x-market-wallet-sig-ts',
    'x-market-wallet-chain',
    'origin',
    'cookie',
    'content-type',
    'accept',
    'x-request-id',
    'sec-fetch-site',
  )
  .chain((name) =>
    fc
      .oneof(headerValue, fc.constantFrom('Bearer', 'Bearer a b', 'Basic YTpi', 'idp-token=x', '1', 'null'))
      .map((value) => ({ [name]: value })),
  )

const hostileQuery = fc.constantFrom(
  'limit=1&limit=2',
  'limit[]=1',
  'a[b]=c',
  '__proto__[x]=1',
  'constructor=1',
  '%',
  '%ff=%fe',
  '=&=&&',
  'limit=1e309',
  `x=${'a'.repeat(4_000)}`,
)

/** Some fields replaced, some taken away, some added that nobody knows. */
const spoiltInputs = (operation: Operation, schema: Schema): fc.Arbitrary<Record<string, unknown>> => {
  const names = Object.keys(schema.properties ?? {})
  const name = names.length === 0 ? fc.constant('nobody') : fc.constantFrom(...names)
  const change = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(name, hostileValue) },
    { weight: 1, arbitrary: fc.tuple(name, fc.constant(undefined)) },
    { weight: 1, arbitrary: fc.tuple(nastyText, hostileValue) },
  )
  return fc
    .tuple(validInputs(operation), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([input, changes]) => {
      const spoilt = { ...input }
      for (const [field, value] of changes) {
        Object.defineProperty(spoilt, field, { value, enumerable: true, configurable: true, writable: true })
      }
      return spoilt
    })
}

/** Good requests, nearly good ones and bad ones, for any operation, drawn from its schema alone. */
export function fuzzCases(
  operation: Operation,
  things: Readonly<Record<string, unknown>>,
): fc.Arbitrary<FuzzCase> {
  const schema = inputSchemaOf(operation)
  const real = Object.entries(things).filter(([name]) => name in (schema.properties ?? {}))
  const input = fc
    .tuple(
      fc.oneof(
        { weight: 4, arbitrary: validInputs(operation) },
        { weight: 5, arbitrary: spoiltInputs(operation, schema) },
        { weight: 1, arbitrary: allowedBy(schema).map((value) => value as Record<string, unknown>) },
      ),
      fc.subarray(real),
    )
    .map(([made, chosen]) => ({ ...Object.fromEntries(chosen), ...made, ...inPlaceOfMadeUp(made, chosen) }))
  return fc.record({
    input,
    body: fc.option(fc.constantFrom(...HOSTILE_BODIES), { nil: undefined, freq: 10 }),
    query: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: hostileQuery }),
    headers: fc.oneof({ weight: 7, arbitrary: fc.constant({}) }, { weight: 3, arbitrary: hostileHeaders }),
  })
}

/** Made-up ids meet nothing; half of the time they give way to the ids of real things. */
const inPlaceOfMadeUp = (
  made: Readonly<Record<string, unknown>>,
  chosen: readonly (readonly [string, unknown])[],
): Record<string, unknown> =>
  Object.fromEntries(
    chosen.filter(([name]) => typeof made[name] === 'string' || typeof made[name] === 'boolean'),
  )

/** Longer ones never arrive: the limit of the headers, which is another test's, stops them. */
const LONGEST_PATH = 6_000

/** The request of a case; undefined when its path is no path of this operation. */
export function wireRequestOf(operation: Operation, others: ReadonlySet<string>, fuzzed: FuzzCase) {
  const keys = pathKeysOf(operation)
  const input = { ...fuzzed.input }
  for (const key of keys) if (input[key] === undefined || input[key] === '') return undefined
  const laid = requestOf(operation, input)
  const [path = '', query] = laid.path.split('?')
  if (others.has(path)) return undefined
  const full = [query, fuzzed.query].filter(Boolean).join('&')
  const url = `${path}${full === '' ? '' : `?${full}`}`
  if (url.length > LONGEST_PATH) return undefined
  const body = hasBody(operation) ? (fuzzed.body ?? jsonText(laid.body)) : undefined
  return {
    method: operation.method,
    path: url,
    headers: {
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
      }),
      ...fuzzed.headers,
    },
    ...(body !== undefined && { body }),
  }
}

/** A case in few words, for the report of a failure. */
export const inBrief = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replace(/(.)\1{60,}/g, '$1…').slice(0, 1_500)

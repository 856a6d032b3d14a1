import { hasBody, type Operation, pathKeysOf } from '@market/contract/define'
import fc from 'fast-check'
import { HOSTILE_BODIES, hostileValue, jsonText, nastyText } from './hostile-values.ts'
import { requestOf } from './operation-request.ts'
import { allowedBy, inputSchemaOf, type Schema, validInputs } from './schema-arbitraries.ts'
import { BOUNDARY, FORM_END, partHead } from './uploads.ts'

export interface FuzzCase {
  readonly input: Readonly<Record<string, unknown>>
  /** A body sent instead of the input's. */
  readonly body: string | Buffer | undefined
  /** Query text added as it is. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
}

/** Replaces the characters that Node does not send in a header. */
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

/** Valid inputs with some fields replaced, removed or added. */
const invalidInputs = (operation: Operation, schema: Schema): fc.Arbitrary<Record<string, unknown>> => {
  const names = Object.keys(schema.properties ?? {})
  const name = names.length === 0 ? fc.constant('unknown_field') : fc.constantFrom(...names)
  const change = fc.oneof(
    { weight: 5, arbitrary: fc.tuple(name, hostileValue) },
    { weight: 1, arbitrary: fc.tuple(name, fc.constant(undefined)) },
    { weight: 1, arbitrary: fc.tuple(nastyText, hostileValue) },
  )
  return fc
    .tuple(validInputs(operation), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([input, changes]) => {
      const invalid = { ...input }
      for (const [field, value] of changes) {
        Object.defineProperty(invalid, field, { value, enumerable: true, configurable: true, writable: true })
      }
      return invalid
    })
}

/** Valid, almost valid and invalid requests of an operation, generated from its schema. */
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
        { weight: 5, arbitrary: invalidInputs(operation, schema) },
        { weight: 1, arbitrary: allowedBy(schema).map((value) => value as Record<string, unknown>) },
      ),
      fc.subarray(real),
    )
    .map(([made, chosen]) => ({ ...Object.fromEntries(chosen), ...made, ...withRealIds(made, chosen) }))
  return fc.record({
    input,
    body: fc.option(fc.constantFrom(...HOSTILE_BODIES), { nil: undefined, freq: 10 }),
    query: fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: hostileQuery }),
    headers: fc.oneof({ weight: 7, arbitrary: fc.constant({}) }, { weight: 3, arbitrary: hostileHeaders }),
  })
}

/** Generated ids do not exist, so the chosen ones are replaced by ids of real resources. */
const withRealIds = (
  made: Readonly<Record<string, unknown>>,
  chosen: readonly (readonly [string, unknown])[],
): Record<string, unknown> =>
  Object.fromEntries(
    chosen.filter(([name]) => typeof made[name] === 'string' || typeof made[name] === 'boolean'),
  )

/** Longer paths are rejected by the header limit, which another test covers. */
const MAX_PATH = 6_000

/** The request of a case; undefined when its path does not match this operation. */
/** A form with a file, whose fields beside it are those of the case. */
const formText = ({ input }: FuzzCase): string => {
  const fields = Object.entries(input).map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${String(value)}\r\n`,
  )
  return `${fields.join('')}${partHead('notes.txt')}a text${FORM_END}`
}

export function wireRequestOf(operation: Operation, others: ReadonlySet<string>, fuzzed: FuzzCase) {
  const keys = pathKeysOf(operation)
  const input = { ...fuzzed.input }
  for (const key of keys) if (input[key] === undefined || input[key] === '') return undefined
  const laid = requestOf(operation, input)
  const [path = '', query] = laid.path.split('?')
  if (others.has(path)) return undefined
  const full = [query, fuzzed.query].filter(Boolean).join('&')
  const url = `${path}${full === '' ? '' : `?${full}`}`
  if (url.length > MAX_PATH) return undefined
  const form = operation.file && fuzzed.body === undefined ? formText(fuzzed) : undefined
  const body = hasBody(operation) ? (form ?? fuzzed.body ?? jsonText(laid.body)) : undefined
  return {
    method: operation.method,
    path: url,
    headers: {
      ...(body !== undefined && {
        'content-type': form === undefined ? 'application/json' : `multipart/form-data; boundary=${BOUNDARY}`,
        'content-length': String(Buffer.byteLength(body)),
      }),
      ...fuzzed.headers,
    },
    ...(body !== undefined && { body }),
  }
}

/** A short text of a case for the failure report. */
export const inBrief = (value: unknown): string =>
  (JSON.stringify(value) ?? '').replace(/(.)\1{60,}/g, '$1…').slice(0, 1_500)

import type { Operation } from '@market/contract/define'
import fc from 'fast-check'

/** The part of JSON Schema that the contract's inputs use. */
export interface Schema {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly additionalProperties?: boolean | Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly format?: string
}

/** Remembers what is made of an operation: schemas and their arbitraries take longer to make than a request. */
function oncePerOperation<T>(make: (operation: Operation) => T): (operation: Operation) => T {
  const made = new WeakMap<Operation, T>()
  return (operation) => {
    const known = made.get(operation) ?? make(operation)
    made.set(operation, known)
    return known
  }
}

export const inputSchemaOf = oncePerOperation(
  (operation) => operation.input.toJSONSchema({ io: 'input' }) as Schema,
)

/** Long texts cost time and find nothing that a shorter one does not; the longest allowed is tried now and then. */
const USUAL_LENGTH = 60

const LETTERS = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzABCXYZ0123456789'.split(''))

/** Values that the schema allows. The contract can be stricter than its schema. */
export function allowedBy(schema: Schema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const branches = schema.anyOf ?? schema.oneOf
  if (branches !== undefined) return fc.oneof(...branches.map(allowedBy))
  switch (schema.type) {
    case 'string':
      return textAllowedBy(schema)
    case 'integer':
      return fc.integer(boundsOf(schema))
    case 'number':
      return fc.double({ ...boundsOf(schema), noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(allowedBy(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 5, 12),
      })
    case 'object':
      return objectAllowedBy(schema)
    default:
      // The parser of bodies rejects keys that could change a prototype.
      return fc
        .jsonValue({ maxDepth: 2 })
        .filter((value) => !/"(__proto__|constructor)"/.test(JSON.stringify(value)))
  }
}

const SAFE = 2 ** 31 - 1

const boundsOf = ({ minimum = -SAFE, maximum = SAFE }: Schema) => ({
  min: Math.max(minimum, -SAFE),
  max: Math.min(maximum, SAFE),
})

const byPattern = new Map<string, fc.Arbitrary<string>>()

/** Made once per pattern: making one lists all characters that the pattern allows. */
function matching(pattern: string): fc.Arbitrary<string> {
  const made = byPattern.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'))
  byPattern.set(pattern, made)
  return made
}

function textAllowedBy({ format, pattern, minLength = 0, maxLength = USUAL_LENGTH }: Schema) {
  if (format === 'uri' || format === 'uri-reference')
    return fc.constantFrom('https://hooks.example/in', 'https://other.example/a?b=c#d')
  if (format === 'date-time') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
  if (pattern !== undefined) return matching(pattern)
  const usual = Math.max(minLength, Math.min(maxLength, USUAL_LENGTH))
  return fc.oneof(
    { weight: 6, arbitrary: fc.string({ unit: LETTERS, minLength, maxLength: usual }) },
    { weight: 2, arbitrary: fc.string({ unit: 'grapheme', minLength, maxLength: usual }) },
    { weight: 1, arbitrary: fc.constantFrom('x'.repeat(minLength), 'x'.repeat(maxLength)) },
  )
}

function objectAllowedBy(schema: Schema): fc.Arbitrary<unknown> {
  const { properties, additionalProperties, required = [] } = schema
  if (properties === undefined && typeof additionalProperties === 'object') {
    return fc.dictionary(
      fc.string({ unit: LETTERS, minLength: 1, maxLength: 20 }),
      allowedBy(additionalProperties),
    )
  }
  const fields = Object.entries(properties ?? {}).map(([name, field]) => [name, allowedBy(field)] as const)
  return fc.record(Object.fromEntries(fields), { requiredKeys: [...required], noNullPrototype: true })
}

/** Inputs that the operation accepts. */
export const validInputs = oncePerOperation((operation) =>
  allowedBy(inputSchemaOf(operation))
    .map((input) => input as Record<string, unknown>)
    .filter((input) => operation.input.safeParse(input).success),
)

const sampleInput = oncePerOperation(
  (operation) => fc.sample(validInputs(operation), { numRuns: 1, seed: 1 })[0] ?? {},
)

/** One good input, the same on every run: what is required, and of real things all that it has a place for. */
export function plainInput(
  operation: Operation,
  things: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const { properties = {}, required = [] } = inputSchemaOf(operation)
  const real = Object.fromEntries(Object.entries(things).filter(([name]) => name in properties))
  const made = sampleInput(operation)
  return { ...Object.fromEntries(required.map((name) => [name, made[name]])), ...real }
}

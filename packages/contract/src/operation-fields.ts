import { closestName } from './closest-name.ts'
import type { Operation } from './define.ts'

/** Calls of operations as words of a terminal: `call <operation> field=value …`. */

type Schema = { readonly safeParse: (value: unknown) => { readonly success: boolean } }

interface Field {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && 'safeParse' in value

/** Every input is one object, as the tests of the contract check. */
function fieldsOf({ input }: Operation): Field[] {
  const shape = 'shape' in input && typeof input.shape === 'object' && input.shape !== null ? input.shape : {}
  return Object.entries(shape).flatMap(([name, schema]) =>
    isSchema(schema) ? [{ name, schema, isRequired: !schema.safeParse(undefined).success }] : [],
  )
}

/** Reads a value as text, and as JSON where the field takes no text: `on=true`, `payload={"payout_id":"pay_…"}`. */
export function inputOf(
  operation: Operation,
  given: readonly (readonly [string, string])[],
): Record<string, unknown> {
  const schemas = new Map(fieldsOf(operation).map(({ name, schema }) => [name, schema]))
  return Object.fromEntries(
    given.map(([name, text]) => {
      const schema = schemas.get(name)
      if (schema === undefined || schema.safeParse(text).success) return [name, text]
      const parsed = parseJson(text)
      return [name, parsed === undefined || !schema.safeParse(parsed).success ? text : parsed]
    }),
  )
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** How the operation is called: `call resolveDispute order_id=… outcome=… note=… [agent_share_bps=…]`. */
export function usageOf(operation: Operation): string {
  const fields = fieldsOf(operation).map(({ name, isRequired }) => (isRequired ? `${name}=…` : `[${name}=…]`))
  return ['call', operation.id, ...fields].join(' ')
}

/** The two parts of `field=value`; undefined for other words. */
export function splitField(text: string): readonly [string, string] | undefined {
  const at = text.indexOf('=')
  return at < 1 ? undefined : [text.slice(0, at), text.slice(at + 1)]
}

/** What the operation does, and how it is called by a program. */
export const describeOperation = (operation: Operation, program: string): string =>
  `${program} ${usageOf(operation)}\n\n${`${operation.summary}. ${operation.description ?? ''}`.trim()}\n`

/** The operation with this id, or a hint at the one that was meant. */
export function findOperation<O extends Operation>(
  id: string,
  among: readonly O[],
): { readonly found: O } | { readonly hint: string } {
  const found = among.find((one) => one.id === id)
  if (found !== undefined) return { found }
  const similar = closestName(
    id,
    among.map((one) => one.id),
  )
  return { hint: similar === undefined ? '' : ` Did you mean ${similar}?` }
}

/** Below a list of operations. */
export const FIELDS_HELP =
  'A field in brackets is optional. A value that is not text is written as JSON: payload=\'{"payout_id":"pay_…"}\''

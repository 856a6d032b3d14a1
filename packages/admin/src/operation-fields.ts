import type { Operation } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { isForOperators } from './call-api.ts'

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

export const operatorOperations: readonly Operation[] = operationList.filter(isForOperators)

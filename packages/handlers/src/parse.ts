import { checkInput } from '@market/contract/check-input'
import type { Operation } from '@market/contract/define'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { parseUsd, type Usdc } from '@market/kernel/money'
import type { z } from 'zod'

export const parse = (operation: Operation, input: Readonly<Record<string, unknown>>) =>
  parseAs(operation.input, input)

/** Parses the input of a route that is not an operation. */
export function parseAs<T>(schema: z.ZodType<T>, input: unknown): T {
  const checked = checkInput(schema, input)
  if ('data' in checked) return checked.data
  const { message, details } = checked.invalid
  throw new ApiError('invalid', message, { code: 'invalid_input', details })
}

/** An amount that the contract has validated. */
export function moneyOf(text: string): Usdc {
  const money = parseUsd(text)
  assert(money !== undefined, `${text} is a valid amount`)
  return money
}

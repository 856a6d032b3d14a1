import { z } from 'zod'

const DECIMAL = /^\d{1,12}(\.\d{1,6})?$/

/** An amount of USD as it may come in: `"12.50"` or `12.5`, at most 6 decimals. It goes on as text, never as a float. */
export const UsdAmount = z
  .union([z.string().max(20), z.number().min(0)])
  .transform(String)
  .refine((text) => DECIMAL.test(text), {
    error: 'must be an amount of USD such as "12.50", with at most 6 decimals',
    abort: true,
  })
  .describe('USD, at most 6 decimals, such as "12.50"')

const MOST_USD = 1_000_000

/** A price. */
export const UsdPrice = UsdAmount.refine(
  (text) => /[1-9]/.test(text) && Number(text) <= MOST_USD,
  'must be more than 0 and at most 1,000,000',
).describe('USD, more than 0 and at most 1,000,000, such as "12.50"')

/** Money as it goes out: a decimal string with 2 to 6 decimals. */
export const UsdText = z
  .string()
  .regex(/^\d+\.\d{2,6}$/)
  .describe('USD, such as "12.50"')

export const NetworkName = z.enum(['solana-mainnet', 'base-mainnet', 'alt-mainnet'])

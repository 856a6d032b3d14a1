import { z } from 'zod'
import { text } from './text.ts'

export const CATEGORIES = [
  'image_gen',
  'video_gen',
  'ugc',
  'influencer',
  'brand_content',
  'coding',
  'analytics',
  'seo',
  'trading',
  'automation',
  'consulting',
  'custom',
] as const

export const Category = z.enum(CATEGORIES)

/** An id that does not exist is 404. The limit only excludes what no client would send as an id. */
const MAX_ID_LENGTH = 500

export const resourceId = (prefix: string, name: string, olderPrefix?: string) => {
  const prefixes = olderPrefix === undefined ? prefix : `(${prefix}|${olderPrefix})`
  // fix: id-of-any-form
  return z
    .string()
    .regex(new RegExp(`^${prefixes}_[0-9A-Za-z_-]{1,${MAX_ID_LENGTH}}$`), `must be ${name} id, ${prefix}_…`)
    .describe(`The id of ${name}, ${prefix}_…`)
}

export const WalletChain = z.enum(['solana', 'base'])

export const WalletAddress = z
  .string()
  .regex(
    /^([1-9A-HJ-NP-Za-km-z]{32,44}|0x[0-9a-fA-F]{40})$/,
    'must be a Solana (base58) or EVM (0x…) address',
  )
  .describe('Solana (base58) or EVM (0x…) address')

export const SolanaAddress = z
  .string()
  .regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, 'must be a Solana address')
  .describe('Solana address, base58')

export const EvmAddress = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an EVM address')
  .describe('EVM address, 0x and 40 hex digits')

/** ISO 8601 in UTC. */
export const Instant = z.iso.datetime().describe('ISO 8601, UTC')

/** The time format of users in the specification. */
export const UserTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}$/)
  .describe('UTC, YYYY-MM-DD HH:MM:SS')

export const pageFields = {
  limit: z.int().min(1).max(100).default(20).describe('Maximum number of results'),
  cursor: text({ min: 1, max: 300 }).optional().describe('`next_cursor` of the previous page'),
}

export const NextCursor = z.object({
  next_cursor: z
    .string()
    .nullable()
    .describe('Pass it as `cursor` to get the next page; null on the last page'),
})

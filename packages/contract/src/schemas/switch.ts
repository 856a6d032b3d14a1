import { z } from 'zod'
import { named, SWITCHES } from '../define.ts'
import { Instant } from './common.ts'

export const Switch = named(
  'Switch',
  z.object({
    name: z.enum(SWITCHES),
    on: z.boolean(),
    on_since: Instant.nullable(),
    changed_at: Instant.nullable(),
    changed_by: z.string().nullable(),
    reason: z.string().nullable(),
    complete_at: Instant.nullable().describe(
      'Of a freeze of payouts: until when what was signed on EVM before it can still be paid, also what a restored database has lost. Null when nothing can',
    ),
  }),
)

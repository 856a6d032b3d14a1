import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'
import { text } from './text.ts'

export const reviewFields = {
  rating: z.int().min(1).max(5).describe('Stars'),
  comment: text({ max: 500 }).default(''),
}

export const Review = named(
  'Review',
  z.object({
    id: z.string(),
    agent_id: z.string(),
    service_id: z.string().nullable().describe('null for the order of a bounty'),
    rating: z.int(),
    comment: z.string(),
    created_at: Instant,
  }),
  3 * 1024,
)

/** The keys are stars. */
export const StarCounts = named(
  'StarCounts',
  z
    .object({ 1: z.int(), 2: z.int(), 3: z.int(), 4: z.int(), 5: z.int() })
    .describe('The number of reviews by their stars'),
)

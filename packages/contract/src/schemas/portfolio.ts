import { z } from 'zod'
import { named } from '../define.ts'
import { Instant } from './common.ts'
import { line } from './text.ts'

export const PORTFOLIO_SOURCES = ['order', 'deliverable'] as const

export const SourceId = line({ min: 1, max: 600 }).describe('A `source_id` of the portfolio')

export const PortfolioEntry = named(
  'PortfolioEntry',
  z.object({
    source_type: z.literal('order'),
    source_id: z.string().describe('The id of the order'),
    service_id: z.string().nullable().describe('null for the order of a bounty'),
    title: z.string().describe('The title of the service when it was ordered, or of the bounty'),
    completed_at: Instant,
    hidden: z.boolean().describe('Always false for other callers than the agent and its owner'),
    deliverables: z.array(
      z.object({
        source_type: z.literal('deliverable'),
        source_id: z.string(),
        type: z.enum(['image', 'video', 'link', 'document', 'code', 'text']),
        url: z.string().nullable(),
        excerpt: z.string().nullable().describe('The first 280 characters of text and code'),
        media_type: z.string().nullable(),
        sha256: z.string().nullable(),
        title: z.string().nullable(),
        hidden: z.boolean(),
      }),
    ),
  }),
  128 * 1024,
)

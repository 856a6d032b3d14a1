import type { Needs } from '@market/core/context'
import { cursorCodec, floatField, idField, type PageRequest } from '@market/kernel/cursor'
import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { type AgentFilter, type AgentPage, filterCondition } from './agent-filter.ts'
import { AGENT_COLUMNS, agentOf } from './row.ts'

const CURSOR = cursorCodec<{ rank: number; id: string }>('agents:search', {
  rank: floatField,
  id: idField('agt'),
})

/** A common word has many matches. Reading only the first ones in an order limits the cost of a search. */
const CANDIDATES = 200

/** An order of the candidates: by an index, and by an expression that no index has. */
export interface CandidateOrder {
  readonly indexed: RawBuilder<unknown>
  /** For a rare part of a name the planner would scan all agents by the index of the order. */
  readonly unindexed: RawBuilder<unknown>
}

export const BY_ORDERS: CandidateOrder = {
  indexed: sql`completed_orders`,
  unindexed: sql`completed_orders + 0`,
}

/** The ids of the first matches in the order. Matches stemmed words of name and description, and parts of the name. */
export function matchingIds(search: string, filter: AgentFilter, order: CandidateOrder): RawBuilder<unknown> {
  const pattern = namePattern(termOf(search))
  const byWords = candidates(filter, sql<SqlBool>`search @@ ${wordsOf(search)}`, order.indexed)
  if (pattern === undefined) return byWords
  return sql`${byWords} union ${candidates(filter, sql<SqlBool>`lower(name) like ${pattern}`, order.unindexed)}`
}

const termOf = (search: string): string => search.trim().toLowerCase()
const wordsOf = (search: string) =>
  sql`(websearch_to_tsquery('english', ${search}) || websearch_to_tsquery('simple', ${search}))`

/** Ranks by text match, then by completed orders and rating; never by the price of a token. */
export async function searchAgents(
  ctx: Needs<'db'>,
  search: string,
  filter: AgentFilter,
  page: PageRequest,
): Promise<AgentPage> {
  const after = CURSOR.decode(page.cursor)
  const words = wordsOf(search)
  const term = termOf(search)
  const score = sql<number>`(
    case when lower(name) = ${term} then 4 when starts_with(lower(name), ${term}) then 2 else 0 end
    + ts_rank(search, ${words}) * 2 + similarity(lower(name), ${term})
    + ln(1 + completed_orders) * 0.1 + (rating_sum + 20.0) / (rating_count + 5) * 0.05
  )::float8`
  const rows = await ctx.db
    .with('scored', (query) =>
      query
        .selectFrom('agents')
        .select(AGENT_COLUMNS)
        .select(score.as('score'))
        .where(sql<SqlBool>`id in (${matchingIds(search, filter, BY_ORDERS)})`),
    )
    .selectFrom('scored')
    .selectAll()
    .$if(after !== undefined, (query) =>
      query.where(sql<SqlBool>`(score, id) < (${after?.rank ?? 0}::float8, ${after?.id ?? ''})`),
    )
    .orderBy('score', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit + 1)
    .execute()
  const listed = CURSOR.pageOf(rows, page.limit, ({ score: rank, id }) => ({ rank, id }))
  return { agents: listed.rows.map(agentOf), nextCursor: listed.nextCursor }
}

const candidates = (filter: AgentFilter, matches: RawBuilder<SqlBool>, rank: RawBuilder<unknown>) => sql`(
  select id from agents where ${filterCondition(filter)} and ${matches}
  order by ${rank} desc, id desc limit ${sql.lit(CANDIDATES)}
)`

/**
 * The trigram index needs three letters in a row. Shorter terms match the beginning of a name, and a term without
 * letters matches no name.
 */
function namePattern(term: string): string | undefined {
  const escaped = term.replace(/[\\%_]/g, (character) => `\\${character}`)
  if (/[\p{L}\p{N}]{3}/u.test(term)) return `%${escaped}%`
  return /^[\p{L}\p{N}]/u.test(term) ? `${escaped}%` : undefined
}

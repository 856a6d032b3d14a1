import type { Tables } from '@market/database/tables'
import { systemClock } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { browseListings } from '@market/offers/listings'
import { Kysely, PostgresDialect } from 'kysely'
import type pg from 'pg'

export type Browsing = Parameters<typeof browseListings>[1]

export interface Statement {
  readonly sql: string
  readonly parameters: unknown[]
}

/** The very statement the api sends to browse. */
export async function statementOf(pool: pg.Pool, browsing: Partial<Browsing>): Promise<Statement> {
  const heard: Statement[] = []
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => {
      heard.push({ sql: query.sql, parameters: [...query.parameters] })
    },
  })
  await browseListings({ db, clock: systemClock }, { limit: 20, ...browsing })
  const [statement, ...more] = heard
  if (statement === undefined || more.length > 0) throw new Error('browsing is one statement')
  return statement
}

export async function planOf(pool: pg.Pool, { sql, parameters }: Statement): Promise<string> {
  const { rows } = await pool.query<{ 'QUERY PLAN': string }>(`explain ${sql}`, parameters)
  return rows.map((row) => row['QUERY PLAN']).join('\n')
}

interface PlanNode {
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Rows Removed by Index Recheck'?: number
  readonly Plans?: readonly PlanNode[]
}

/** How many rows of the table a statement reads, whether it uses them or not. */
export async function rowsReadBy(pool: pg.Pool, { sql, parameters }: Statement): Promise<number> {
  const explain = `explain (analyze, timing off, format json) ${sql}`
  const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(explain, parameters)
  const readBy = (node: PlanNode): number => {
    const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0)
    const own =
      node['Relation Name'] === 'listings' ? (node['Actual Rows'] + removed) * node['Actual Loops'] : 0
    return (node.Plans ?? []).reduce((sum, each) => sum + readBy(each), own)
  }
  return rows.flatMap((row) => row['QUERY PLAN']).reduce((sum, { Plan }) => sum + readBy(Plan), 0)
}

export const SORTS = ['popular', 'newest', 'cheapest', 'rating', 'fastest'] as const

/** One of every kind of list. */
export const LISTS: readonly (readonly [string, Partial<Browsing>])[] = [
  ...SORTS.map((sort) => [sort, { sort }] as const),
  ['a category', { category: 'coding' }],
  ['a rare category', { category: 'influencer' }],
  ['a rare category, cheapest', { category: 'influencer', sort: 'cheapest' }],
  ['a price type, by rating', { priceType: 'monthly', sort: 'rating' }],
  ['bounds of price', { minPrice: usdc(5_000_000n), maxPrice: usdc(6_000_000n) }],
  ['bounds of price, newest', { minPrice: usdc(5_000_000n), sort: 'newest' }],
  ['a turnaround', { maxTurnaroundHours: 4 }],
  ['a turnaround, newest', { maxTurnaroundHours: 4, sort: 'newest' }],
  ['search, common words', { search: 'logo design' }],
  ['search, a synonym', { search: 'branding' }],
  ['search, a rare title', { search: 'Falcon 4242' }],
  ['search, two letters', { search: 'or' }],
  ['search with filters', { search: 'code review', category: 'coding', priceType: 'fixed' }],
  ['search, cheapest', { search: 'voiceover', sort: 'cheapest' }],
  ['search for nothing there is', { search: 'qqqqq zzzzz' }],
]

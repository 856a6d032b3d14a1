import type { NextCursor } from '@market/kernel/cursor'
import { type SqlBool, sql } from 'kysely'
import type { Agent } from './agent.ts'

export interface AgentFilter {
  readonly category?: string | undefined
  readonly model?: string | undefined
  readonly withServices?: boolean | undefined
  readonly tokenized?: boolean | undefined
  readonly ownerWallet?: string | undefined
  /** Only when the caller is the owner. */
  readonly includeHidden?: boolean | undefined
}

export interface AgentPage {
  readonly agents: readonly Agent[]
  readonly nextCursor: NextCursor
}

/** The filter as an SQL condition, so that it applies before the limit. */
export function filterCondition(filter: AgentFilter) {
  const conditions = [
    filter.includeHidden === true ? undefined : sql<SqlBool>`marketable`,
    filter.category === undefined
      ? undefined
      : sql<SqlBool>`capabilities @> array[${filter.category}]::text[]`,
    filter.model === undefined ? undefined : sql<SqlBool>`ai_models @> array[${filter.model}]::text[]`,
    filter.withServices === true ? sql<SqlBool>`service_count > 0` : undefined,
    filter.tokenized === undefined ? undefined : sql<SqlBool>`(token_mint is not null) = ${filter.tokenized}`,
    filter.ownerWallet === undefined ? undefined : sql<SqlBool>`owner_wallet = ${filter.ownerWallet}`,
  ].filter((condition) => condition !== undefined)
  return conditions.length === 0 ? sql<SqlBool>`true` : sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

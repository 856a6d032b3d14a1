import type { Needs } from '@market/core/context'
import type { Usdc } from '@market/kernel/money'
import { NETWORKS } from '@market/kernel/network'
import { COUNT_LIMIT, type WaitingMoney } from '@market/kernel/waiting'
import { sql } from 'kysely'
import { openAccounts } from '../ledger/index.ts'

const KINDS = ['suspense', 'surplus'] as const

export interface WaitingUnmatched extends WaitingMoney {
  readonly kind: (typeof KINDS)[number]
}

/** Unmatched money by network and kind. Of each, up to `COUNT_LIMIT` transfers are counted. */
export async function countUnmatched({ db }: Needs<'db'>): Promise<WaitingUnmatched[]> {
  const waiting: WaitingUnmatched[] = []
  for (const network of NETWORKS)
    for (const kind of KINDS) {
      const accounts = openAccounts(db, [kind]).where('network', '=', network).limit(COUNT_LIMIT)
      const { rows } = await sql<{ count: number; amount: Usdc; oldest: Date | null }>`
        select count(*)::integer as count, coalesce(sum(balance_micros), 0)::bigint as amount,
          min(created_at) as oldest
        from ${accounts.as('account')}`.execute(db)
      for (const { oldest, ...rest } of rows)
        if (oldest !== null) waiting.push({ network, kind, ...rest, oldest })
    }
  return waiting
}

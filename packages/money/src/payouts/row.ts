import { columns, rowReader } from '@market/database/rows'
import type { Tables } from '@market/database/tables'
import { usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import type { Selectable } from 'kysely'
import { parsePurpose, parseTransferName } from '../payments/index.ts'
import type { Payout, Unmatched } from './payout.ts'

/** Other modules of payouts read these. */
const NOT_READ = ['mark', 'approved_at', 'due_at'] as const

export const payoutOf = rowReader<Selectable<Tables['payouts']>, Payout>()(
  columns('payouts', ...NOT_READ, 'amount_micros', 'purpose', 'unmatched_from', 'unmatched_transfer'),
  {
    amount: (row) => usdc(row.amount_micros),
    purpose: ({ purpose }) => (purpose === null ? null : parsePurpose(purpose)),
    unmatched: unmatchedOf,
  },
)

function unmatchedOf(row: Selectable<Tables['payouts']>): Unmatched | null {
  if (row.unmatched_transfer === null) return null
  const from = row.unmatched_from as Unmatched['from']
  return { network: row.network as Network, ...parseTransferName(row.unmatched_transfer), from }
}

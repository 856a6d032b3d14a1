import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { AppServices } from './application.ts'

/** The tables that are saved with the process output of a failed run. */
const TABLES = [
  ...[
    'orders',
    'order_steps',
    'payouts',
    'payout_signatures',
    'payout_guards',
    'purchases',
    'payment_intents',
    'bounties',
    'bounty_claims',
    'transfers',
    'earn_pools',
    'earn_positions',
    'venue_transfers',
    'outgoing_transactions',
    'earn_deposits',
    'earn_withdrawals',
    'earn_fills',
    'delivery_queues',
    'deliveries',
  ],
  ...['worker_pools', 'graphile_worker._private_jobs', 'graphile_worker._private_job_queues'],
]

/** Writes to the folder in `TRACES`, if it is set. */
export async function saveTraces({ db, output }: AppServices, name: string): Promise<void> {
  const traces = process.env['TRACES']
  if (traces === undefined) return
  const folder = join(traces, name)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'output.log'), output())
  for (const table of TABLES) {
    const { rows } = await sql<{ row: string }>`
      select row_to_json(one)::text as row from ${sql.table(table)} one`.execute(db)
    writeFileSync(join(folder, `${table}.jsonl`), rows.map(({ row }) => row).join('\n'))
  }
}

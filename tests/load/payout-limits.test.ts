import { openPool } from '@market/database/connect'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { advancePayout, payoutLimitMetrics } from '@market/money/payouts'
import { testDatabase } from '@market/testing/postgres'
import { expect, test } from 'vitest'
import { fillWithPayouts } from '../support/many-payouts.ts'
import { counterDrift } from '../support/payout-counters.ts'
import { CAPS, NETWORK } from '../support/payout-ledger.ts'
import { scriptedPayouts } from '../support/scripted-payouts.ts'
import { type Statement, statementsOf } from './order-statements.ts'
import { planCost } from './plan-cost.ts'

const NOW = new Date('2026-03-01T10:20:00Z')
const MOST = Number(process.env['PAYOUTS'] ?? 100_000)
const LIMITED = ['payouts', 'payout_costs', 'payout_counters', 'payout_signatures', 'payout_transfers']
/** So few that each is paid in every hour, also by 1,000 payouts. */
const AGENTS = 20
const OPEN = usdc(10n ** 15n)

/** What the limits read of the tables that grow, to authorize one payout and to measure what was spent. */
async function rowsRead(payouts: number): Promise<{ rows: number; scanned: string[]; statements: number }> {
  const database = await testDatabase()
  const pool = openPool({ url: database.url, maxConnections: 1 })
  try {
    await fillWithPayouts(database.url, payouts, NOW, AGENTS)
    expect(await counterDrift(database.db)).toEqual([])
    const { app, request } = await scriptedPayouts(database.db, NOW)
    const caps = { ...CAPS, perPayee: OPEN, perDay: OPEN, gasBudget: { [NETWORK]: 10n ** 30n } }
    const payout = await request({ payee: `0x${'1'.padStart(40, '0')}`, agentId: 'agt_1' as AgentId })
    const heard = await statementsOf(database.url, async (db) => {
      await advancePayout({ ...app, caps, db }, payout.id)
      await payoutLimitMetrics({ ...app, db })
    })
    const row = await database.db
      .selectFrom('payouts')
      .select('state')
      .where('id', '=', payout.id)
      .executeTakeFirst()
    expect(row?.state).toBe('signed')
    const reads = heard.filter((one): one is Statement => /^\s*(select|update|insert|with)\b/i.test(one.sql))
    const scanned: string[] = []
    let rows = 0
    for (const statement of reads) {
      const cost = await planCost(pool, statement, (table) => LIMITED.includes(table)).catch((error) => {
        // What was inserted once cannot be inserted again.
        if (/^\s*select/i.test(statement.sql)) throw error
        return { rows: 0, scanned: [] }
      })
      rows += cost.rows
      scanned.push(...cost.scanned)
    }
    return { rows, scanned, statements: reads.length }
  } finally {
    await pool.end()
    await database.stop()
  }
}

test(`authorizing a payout reads as many rows with 1,000 payouts in 24 hours as with ${MOST}`, async () => {
  const few = await rowsRead(1_000)
  const many = await rowsRead(MOST)
  // 25 hours of the network, the payee and the agent, before the chain is asked and when it is authorized, and the rows of this payout.
  expect(many).toEqual(few)
  expect(many.scanned).toEqual([])
  expect(many.rows).toBeLessThanOrEqual(225)
}, 600_000)

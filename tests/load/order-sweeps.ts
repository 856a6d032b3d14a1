import type { Db } from '@market/database/transact'
import { DAY, later, systemClock } from '@market/kernel/clock'
import { type AgentId, idSource } from '@market/kernel/ids'
import { checkIntents, recheckTransfers } from '@market/money/payments'
import { duePayouts } from '@market/money/payouts'
import { agentActor, walletActor } from '@market/testing/make-actor'
import { marketContext } from '@market/testing/market-context'
import { applyDueTransitions, listAgentOrders, listOrders } from '@market/trade/orders'
import { PURPOSES } from '@market/worker/payment-handlers'
import pg from 'pg'
import { onAnyReversal } from '../support/reversals.ts'
import { SEEDED } from './order-seeds.ts'
import { type Statement, statementsOf } from './order-statements.ts'

const TIMES = 15
/** When the first of the seeded orders and payouts move by themselves. */
const DUE_IN_MS = 2 * DAY

const context = (db: Db) => ({ db, clock: systemClock, ids: idSource(systemClock), chains: {} })

/** A process of Base whose nodes cannot be reached. */
const ON_BASE = {
  chains: { 'base-mainnet': undefined },
  facilitators: { 'base-mainnet': undefined },
} as object

interface Someone {
  readonly agentId: AgentId
  readonly wallet: string
}

/** What the worker looks for again and again, and the lists of orders; each begins with the statement that finds. */
const SWEEPS: Readonly<Record<string, (db: Db, one: Someone) => Promise<unknown>>> = {
  'payments that wait': (db) =>
    checkIntents({ ...marketContext({ db }), ...context(db), ...ON_BASE }, PURPOSES),
  'orders that are due': (db) => applyDueTransitions(context(db)),
  'transfers to look at again': (db) => recheckTransfers(context(db), onAnyReversal()),
  'payouts that are due': (db) => duePayouts(context(db), 'base-mainnet', 20),
  'orders of an agent': (db, one) => listAgentOrders({ db }, provider(one), { ...of(one), statuses: [] }),
  'open orders of an agent': (db, one) =>
    listAgentOrders({ db }, provider(one), { ...of(one), statuses: ['paid', 'in_progress'] }),
  'orders of a buyer': (db, { wallet }) =>
    listOrders({ db }, walletActor(wallet), { limit: 20, statuses: [], withQuota: false }),
  'open orders of a buyer': (db, { wallet }) =>
    listOrders({ db }, walletActor(wallet), {
      limit: 20,
      statuses: ['paid', 'in_progress'],
      withQuota: false,
    }),
  'workspaces of a buyer': (db, { wallet }) =>
    listOrders({ db }, walletActor(wallet), { limit: 20, statuses: [], withQuota: true }),
}

const provider = ({ agentId }: Someone) => agentActor(agentId)
const of = ({ agentId }: Someone) => ({ agentId, limit: 20 })

const BIG = new RegExp(`Seq Scan on (${Object.keys(SEEDED).join('|')})`)

/** The lines of a plan that read a table of orders or money from end to end. */
export const wholeTables = (plan: string): string[] => plan.split('\n').filter((line) => BIG.test(line))

export interface Swept {
  readonly name: string
  readonly ms: number
  readonly wholeTables: readonly string[]
}

/** How long each sweep looks for what it takes, as Postgres says; nothing it would change stays changed. */
export async function sweep(url: string): Promise<Swept[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<Someone>(
      'select agent_id as "agentId", client_wallet as wallet from orders where client_wallet is not null limit 1',
    )
    const [one] = rows
    if (one === undefined) throw new Error('there are no orders')
    const swept: Swept[] = []
    for (const [name, work] of Object.entries(SWEEPS)) {
      // There is no chain here, so sweeps that query one stop there.
      const heard = await statementsOf(url, (db) => work(db, one).catch(() => undefined))
      const statements = heard.filter(({ sql }) => /^\s*(select|update|with)/i.test(sql))
      if (statements.length === 0) throw new Error(`${name} asked for nothing`)
      // Some look for two kinds, one after the other.
      for (const statement of statements.slice(0, 2)) {
        const plans: string[] = []
        for (let n = 0; n < TIMES; n++) plans.push(await planOf(client, inTwoDays(statement)))
        const times = plans.map((plan) => Number(/Execution Time: ([\d.]+)/.exec(plan)?.[1]))
        const ms = times.toSorted((a, b) => a - b)[Math.floor(TIMES / 2)] ?? Number.NaN
        swept.push({ name, ms, wholeTables: plans.flatMap(wholeTables) })
      }
    }
    return swept
  } finally {
    await client.end()
  }
}

/** Today nothing is due; in two days there is as much as a sweep takes at once. */
const inTwoDays = ({ sql, parameters }: Statement): Statement => ({
  sql,
  parameters: parameters.map((value) => (value instanceof Date ? later(value, DUE_IN_MS) : value)),
})

async function planOf(client: pg.Client, { sql, parameters }: Statement): Promise<string> {
  await client.query('begin')
  try {
    const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain analyze ${sql}`, [...parameters])
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  } finally {
    await client.query('rollback')
  }
}

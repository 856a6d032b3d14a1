import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Tables } from '@market/database/tables'
import { type Tx, transact } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { escrow, fees, type Journal, payable, post, splitPrice, totals, world } from '@market/money/ledger'
import { testDatabase } from '@market/testing/postgres'
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { report, spread } from './bench-report.ts'

/** How much of pgbench's speed is left when the same statements are sent by `post`: orders paid, then completed. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const SECONDS = Number(process.env['SECONDS'] ?? 5)
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 8)
const NETWORK = 'base-mainnet'
const PRICE = usdc(12_345_678n)

const run = promisify(execFile)
const ctx = { clock: systemClock, ids: idSource(systemClock) }

function paidAndCompleted(order: string): Journal[] {
  const escrowAccount = escrow(NETWORK, order)
  const { agent, fee } = splitPrice(PRICE)
  const about = { subject: order, network: NETWORK } as const
  return [
    {
      ...about,
      key: `order.paid:${order}`,
      reason: 'order.paid',
      moves: [{ from: world(NETWORK), to: escrowAccount, amount: PRICE }],
    },
    {
      ...about,
      key: `order.completed:${order}`,
      reason: 'order.completed',
      agentId: 'agt_1767225600000_00000000000000001',
      moves: [
        { from: escrowAccount, to: payable(NETWORK, `pay_${order}`), amount: agent },
        { from: escrowAccount, to: fees(NETWORK), amount: fee },
      ],
    },
  ]
}

/** The statement `post` would send, caught by a driver that sends nothing. */
async function statementOf(journal: Journal): Promise<{ sql: string; parameters: readonly unknown[] }> {
  const caught: { sql: string; parameters: readonly unknown[] }[] = []
  const nowhere = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query }) => {
      caught.push(query)
    },
  })
  // With no answer it looks for an earlier journal, and finds none: by then the statement is caught.
  await nowhere
    .transaction()
    .execute((tx: Tx) => post(ctx, tx, journal))
    .catch(() => undefined)
  const insert = caught.find(({ sql }) => sql.includes('insert into ledger_journals'))
  if (insert === undefined) throw new Error('post sent no journal')
  return insert
}

const ORDER = 'ord_ORDER'

/** A text in parts: pgbench would take what follows a colon for a variable of its own, even inside quotes. */
const quoted = (text: string) => `'${text.replaceAll(':', `:' || '`)}'`

/** One value as pgbench's script says it; what names the journal, the order or a stripe is drawn anew each time. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `array[${value.map(literal).join(', ')}]`
  if (value === null) return 'null'
  if (value instanceof Date) return quoted(value.toISOString())
  if (typeof value !== 'string') return String(value)
  if (value.startsWith('jrn_'))
    return `'jrn_1767225600000_0' || lpad(:x::text, 8, '0') || lpad(:y::text, 8, '0')`
  if (value.endsWith(ORDER)) return `${quoted(`${value.slice(0, -ORDER.length)}ord_`)} || :order::text`
  if (/^(world|fees):/.test(value)) return `${quoted(value.replace(/\d$/, ''))} || :stripe::text`
  return /^[0-7]$/.test(value) ? ':stripe::text' : quoted(value)
}

async function script(): Promise<string> {
  const lines = ['\\set order random(1, 9000000000000000)', '\\set stripe random(0, 7)']
  for (const journal of paidAndCompleted(ORDER)) {
    const { sql, parameters } = await statementOf(journal)
    const statement = sql.replace(/\$(\d+)/g, (_, n) => `(${literal(parameters[Number(n) - 1])})`)
    lines.push('\\set x random(0, 99999999)', '\\set y random(0, 99999999)')
    lines.push(
      'start transaction isolation level read committed;',
      `${statement.replace(/\s+/g, ' ')};`,
      'commit;',
    )
  }
  return lines.join('\n')
}

/** Journals in a second. `extended` is the way `pg` sends a statement with values, too. */
async function bare(url: string, file: string): Promise<number> {
  const clients = String(CONNECTIONS)
  const args = ['-n', '-M', 'extended', '-c', clients, '-j', '1', '-T', String(SECONDS), '-f', file, url]
  const { stdout } = await run('pgbench', args)
  if (!/number of failed transactions: 0 /.test(stdout)) throw new Error(stdout)
  return 2 * Number(/^tps = ([\d.]+)/m.exec(stdout)?.[1])
}

let orders = 0
async function ours(db: Parameters<typeof transact>[0]): Promise<number> {
  const began = performance.now()
  const end = began + SECONDS * 1_000
  let posted = 0
  const loop = async () => {
    while (performance.now() < end) {
      for (const journal of paidAndCompleted(`ord_${ctx.ids.next('ord')}_${orders++}`)) {
        await transact(db, (tx) => post(ctx, tx, journal))
        posted++
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, loop))
  return (posted * 1_000) / (performance.now() - began)
}

const folder = await mkdtemp(join(tmpdir(), 'bench-ledger-'))
const databases = await Promise.all(
  [1, 2].map(() => testDatabase({ maxConnections: CONNECTIONS, preparedStatements: 'in_transactions' })),
)
const [mine, theirs] = databases
try {
  if (mine === undefined || theirs === undefined) throw new Error('two databases were asked for')
  const file = join(folder, 'orders.sql')
  await writeFile(file, await script())
  // Until the compiler has seen enough, and both databases are warm.
  await ours(mine.db)
  await bare(theirs.url, file)
  const ratios: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const [pgbench, posted] = [await bare(theirs.url, file), await ours(mine.db)]
    ratios.push(posted / pgbench)
    console.log(`round ${round + 1}: post ${posted.toFixed(0)}/s, pgbench ${pgbench.toFixed(0)}/s`)
  }
  for (const { db } of databases) {
    const { imbalance } = await totals(db, NETWORK)
    if (imbalance !== 0n) throw new Error(`the ledger is off by ${imbalance}`)
  }
  report([
    {
      what: `ledger journals, ${CONNECTIONS} connections`,
      measured: `${spread(ratios)} of pgbench`,
      aim: '0.9',
      cpu: '',
    },
  ])
} finally {
  for (const database of databases) await database.stop()
  await rm(folder, { recursive: true })
}

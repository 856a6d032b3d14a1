import { totals } from '@market/money/ledger'
import { testDatabase } from '@market/testing/postgres'
import { median, report, spread } from './bench-report.ts'
import { openAppServices } from './order-app.ts'
import { bare, ours, withScripts } from './order-pace.ts'

/** Orders from creation to approval through the request pipeline, beside pgbench with the same statements. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 9)
const SECONDS = Number(process.env['SECONDS'] ?? 6)
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 8)
/** Enough that lives rarely wait for each other's seller; pgbench takes at most 128 scripts. */
const PAIRS = Number(process.env['PAIRS'] ?? 40)

const course = { seconds: SECONDS, connections: CONNECTIONS }
const database = await testDatabase({ maxConnections: CONNECTIONS, preparedStatements: 'in_transactions' })
const app = openAppServices(database.db)
try {
  await app.ready()
  const market = { ...database, app, pairs: await app.makePairs(PAIRS) }
  await withScripts(market, async (scripts) => {
    // Until the compiler has seen enough, and the database is warm.
    await ours(market, course)
    await bare(market, scripts, course)
    const rounds: { us: Awaited<ReturnType<typeof ours>>; pgbench: Awaited<ReturnType<typeof bare>> }[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const pgbench = await bare(market, scripts, course)
      const us = await ours(market, course)
      rounds.push({ us, pgbench })
      console.log(
        `round ${round + 1}: ours ${us.perSecond.toFixed(0)}/s, each ${us.ownMs.toFixed(1)} ms of our core and ` +
          `${us.postgresMs.toFixed(1)} ms of Postgres; ` +
          `pgbench ${pgbench.perSecond.toFixed(0)}/s, each ${pgbench.postgresMs.toFixed(1)} ms of Postgres`,
      )
    }
    const { imbalance } = await totals(database.db, 'base-mainnet')
    if (imbalance !== 0n) throw new Error(`the ledger is off by ${imbalance}`)
    const ratios = rounds.map(({ us, pgbench }) => us.perSecond / pgbench.perSecond)
    const ms = (of: (round: (typeof rounds)[number]) => number) => median(rounds.map(of)).toFixed(1)
    report([
      {
        what: `orders from creation to approval, ${CONNECTIONS} connections, ${PAIRS} pairs`,
        measured: `${spread(ratios)} of pgbench`,
        aim: '0.6',
        cpu: `${ms(({ us }) => us.ownMs)} ms and ${ms(({ us }) => us.postgresMs)} ms of Postgres, pgbench ${ms(({ pgbench }) => pgbench.postgresMs)} ms of Postgres`,
      },
    ])
  })
} finally {
  await app.stop()
  await database.stop()
}

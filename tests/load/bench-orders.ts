import { totals } from '@market/market/ledger'
import { testDatabase } from '@market/testing/postgres'
import { percentile } from '../support/until.ts'
import { openHouse } from './order-life.ts'
import { bare, ours, withScripts } from './order-pace.ts'

/** How much of pgbench's speed is left when the same statements are sent by the executor: whole lives of orders. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 9)
const SECONDS = Number(process.env['SECONDS'] ?? 6)
const CONNECTIONS = Number(process.env['CONNECTIONS'] ?? 8)
/** Enough that lives rarely wait for each other's seller; pgbench takes at most 128 scripts. */
const PAIRS = Number(process.env['PAIRS'] ?? 40)

const course = { seconds: SECONDS, connections: CONNECTIONS }
const database = await testDatabase({ maxConnections: CONNECTIONS })
const house = openHouse(database.db)
try {
  await house.ready()
  const market = { ...database, house, pairs: await house.makePairs(PAIRS) }
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
    if (imbalance !== 0n) throw new Error(`the books are off by ${imbalance}`)
    const ratios = rounds.map(({ us, pgbench }) => us.perSecond / pgbench.perSecond)
    const busy = rounds.map(({ us }) => (us.perSecond * us.ownMs) / 1_000)
    const [least, median, most] = [0, 0.5, 1].map((share) => percentile(ratios, share).toFixed(2))
    console.log(`order lives: ${median} of pgbench (rounds from ${least} to ${most})`)
    console.log(`our process was busy for ${percentile(busy, 0.5).toFixed(2)} of one core`)
    console.log(`${PAIRS} pairs of seller and buyer, ${CONNECTIONS} connections`)
  })
} finally {
  await house.stop()
  await database.stop()
}

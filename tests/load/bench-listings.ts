import { openPool } from '@market/database/connect'
import { client } from '../support/client.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { percentile } from '../support/until.ts'
import { report } from './bench-report.ts'
import { type Browsing, LISTS, planOf, type Statement, statementOf } from './listing-statements.ts'
import { fillWithListings, searchesFor } from './many-listings.ts'
import { withPostgresCpu } from './postgres-cpu.ts'

/** How long browsing and searching take beside their own SQL sent bare, at the size of a large market. */
const LISTINGS = Number(process.env['LISTINGS'] ?? 1_000_000)
const SEARCHES = Number(process.env['SEARCHES'] ?? 240)
const ROUNDS = Number(process.env['ROUNDS'] ?? 20)

const ms = (value: number) => `${value.toFixed(1)} ms`

function queryOf({ search, sort, category, priceType, minPrice, maxPrice }: Partial<Browsing>): string {
  const usd = (micros: bigint | undefined) => (micros === undefined ? undefined : Number(micros) / 1e6)
  const fields = {
    search,
    sort,
    category,
    price_type: priceType,
    min_price: usd(minPrice),
    max_price: usd(maxPrice),
  }
  const given = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, String(value)] as [string, string]],
  )
  return new URLSearchParams(given).toString()
}

const parts = await startParts()
const pool = openPool({ url: parts.database.url, maxConnections: 1 })
try {
  const began = performance.now()
  await fillWithListings(parts.database.url, LISTINGS)
  console.log(`${LISTINGS} listings in ${((performance.now() - began) / 1_000).toFixed(0)} s`)
  const api = await startApi(parts.environment)
  try {
    const timed = async (work: () => Promise<unknown>) => {
      const at = performance.now()
      await work()
      return performance.now() - at
    }
    const compare = async (asked: readonly Partial<Browsing>[]): Promise<string> => {
      const [whole, bare]: [number[], number[]] = [[], []]
      for (const browsing of asked) {
        const statement = await statementOf(pool, browsing)
        const askApi = async () => {
          const path = `/api/services?${queryOf(browsing)}`
          const { status } = await client(api.url).get(path)
          if (status !== 200) throw new Error(`${path} answered ${status}`)
        }
        const runs = [
          async () => whole.push(await timed(askApi)),
          async () => bare.push(await timed(() => pool.query(statement.sql, statement.parameters))),
        ]
        // Each goes first as often as the other, so that neither always finds the cache warm.
        for (const run of whole.length % 2 === 0 ? runs : runs.toReversed()) await run()
      }
      const [ours, theirs] = [percentile(whole, 0.95), percentile(bare, 0.95)]
      const median = `median ${ms(percentile(whole, 0.5))} against ${ms(percentile(bare, 0.5))}`
      return `p95 ${ms(ours)}, bare SQL ${ms(theirs)}, ratio ${(ours / theirs).toFixed(2)}; ${median}`
    }
    const seqScans: string[] = []
    for (const [name, browsing] of LISTS) {
      const plan = await planOf(pool, await statementOf(pool, browsing))
      if (/Seq Scan on listings/.test(plan)) seqScans.push(name)
    }
    console.log(seqScans.length === 0 ? 'no list reads the whole table' : `whole table read by ${seqScans}`)
    const lists = LISTS.filter(([, { search }]) => search === undefined).map(([, browsing]) => browsing)
    const browse = await compare(Array.from({ length: ROUNDS }, () => lists).flat())
    const search = await compare(searchesFor(SEARCHES, LISTINGS).map((words) => ({ search: words })))
    // Less dependent on other work on the machine than the time a search takes.
    const statements: Statement[] = []
    for (const words of searchesFor(SEARCHES, LISTINGS))
      statements.push(await statementOf(pool, { search: words }))
    const { cpuMs } = await withPostgresCpu(parts.database.url, async () => {
      for (const { sql, parameters } of statements) await pool.query(sql, parameters)
    })
    for (const [name, browsing] of LISTS)
      console.log(`  ${name}: ${await compare(Array.from({ length: 6 }, () => browsing))}`)
    report([
      { what: `browse ${LISTINGS} services`, measured: browse, aim: '', cpu: '' },
      {
        what: `search ${LISTINGS} services`,
        measured: search,
        aim: LISTINGS >= 1_000_000 ? 'p95 100 ms' : '5 ms of Postgres at 10,000',
        cpu: `${ms(cpuMs / statements.length)} of Postgres`,
      },
    ])
  } finally {
    await api.stop()
  }
} finally {
  await pool.end()
  await parts.stop()
}

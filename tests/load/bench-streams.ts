import { get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { evmSigner } from '@market/testing/evm-signer'
import { sql } from 'kysely'
import { asHeaders, signed } from '../support/makers.ts'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { report } from './bench-report.ts'
import { cpuMsOf, withPostgresCpu } from './postgres-cpu.ts'

/** What open order pages cost one api process: each has an event stream of its buyer, and nothing happens. */
const STREAMS = Number(process.env['STREAMS'] ?? 2_000)
const SETTLE_MS = Number(process.env['SETTLE_MS'] ?? 20_000)
const MEASURE_MS = Number(process.env['MEASURE_MS'] ?? 45_000)
const AT_ONCE = 4
const AIM_PERCENT = 10

const parts = await startParts()
// Buyers who open their pages at once wait for a busy machine.
const api = await startApi({ ...parts.environment, TIMEOUT_FACTOR: '20' })

/** Each buyer has an address of its own, because the streams of one are limited. */
const addressOf = (number: number) => `198.${number % 200}.${(number >> 8) & 255}.${number & 255}`

/** A buyer who is signed in with a wallet and has had an event. Returns the cookie. */
async function newBuyer(number: number): Promise<string> {
  const wallet = evmSigner()
  const response = await fetch(`${api.url}/api/auth/session`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': addressOf(number),
      ...asHeaders(await signed(wallet, 'sessions.start')),
    },
    body: '{}',
  })
  if (!response.ok) throw new Error(await response.text())
  const buyer = `wallet:${wallet.address.toLowerCase()}`
  await sql`insert into buyer_event_counters (buyer, last_seq) values (${buyer}, 1)`.execute(parts.db)
  return response.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const openStream = async (number: number): Promise<void> => {
  const cookie = await newBuyer(number)
  const headers = { cookie, 'sec-fetch-site': 'same-origin', 'x-forwarded-for': addressOf(number) }
  const request = get(`${api.url}/api/events/stream?role=buyer&after=1`, { headers, agent: false })
  await new Promise<void>((resolve, reject) => {
    request.once('error', reject)
    request.once('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`stream ${number} is ${response.statusCode}`))
      response.resume()
      resolve()
    })
  })
}

try {
  const numbers = Array.from({ length: STREAMS }, (_, number) => number).values()
  const open = async () => {
    for (const number of numbers) await openStream(number)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, open))
  await wait(SETTLE_MS)
  const before = cpuMsOf(api.pid) ?? Number.NaN
  const { tookMs, cpuMs } = await withPostgresCpu(parts.database.url, () => wait(MEASURE_MS))
  const percent = (((cpuMsOf(api.pid) ?? Number.NaN) - before) / tookMs) * 100
  report([
    {
      what: `${STREAMS} open order pages (event streams) at one api process`,
      measured: `${percent.toFixed(1)} % of a core`,
      aim: `${AIM_PERCENT} %`,
      cpu: `${((cpuMs / tookMs) * 1_000).toFixed(1)} ms of Postgres a second`,
    },
  ])
} finally {
  await api.stop()
  await parts.stop()
}
process.exit()

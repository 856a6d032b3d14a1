import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { runProgram } from '../test-program.ts'
import { anchorText, type LiabilityProof, type ReserveAnchor, rootBy } from './merkle-proof.ts'

/** One server is the API that lies and the nodes that do not. */

// biome-ignore lint/suspicious/noExplicitAny: the tampered responses have any shape
type Json = any

const SOLANA_TREASURY = '8kQwTreasury'
const TREASURY = `0x${'aB'.repeat(20)}`
const PAYOUT = `0x${'cd'.repeat(32)}`
const today = new Date().toISOString().slice(0, 10)
let solvency: Json[]
let anchors: Json[]
let proofs: Json[]
let fullPages: boolean
let url: string

const server = createServer(async (request, response) => {
  const path = request.url ?? ''
  let body: Json
  if (request.method === 'POST')
    body = { jsonrpc: '2.0', id: 1, result: node(JSON.parse(await text(request))) }
  else if (path.startsWith('/api/solvency/anchors'))
    body = { success: true, data: anchors, next_cursor: null }
  else if (path.startsWith('/api/solvency/proof')) {
    body = { success: true, data: path.includes('rsv_s') ? [] : proofs, omitted: 0 }
  } else body = { success: true, data: solvency }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
})

function node({ method, params }: { method: string; params: Json[] }): Json {
  const now = Math.floor(Date.now() / 1_000)
  if (method === 'eth_call') return '0x989680'
  if (method === 'eth_getBlockByNumber') return { timestamp: `0x${now.toString(16)}` }
  if (method === 'getTokenAccountsByOwner') return { value: [] }
  if (method === 'getSignaturesForAddress') {
    const row = { memo: null, err: null, blockTime: now, signature: 'x' }
    return fullPages ? Array.from({ length: params[1].limit }, () => row) : [row]
  }
  if (method === 'eth_getTransactionReceipt') {
    const topics = [
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      `0x${'0'.repeat(24)}${TREASURY.slice(2).toLowerCase()}`,
    ]
    const log = { address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', topics, data: '0x1e8480' }
    return { status: '0x1', blockNumber: '0x1', logs: [log] }
  }
  const instructions = [{ programId: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr', parsed: honestText }]
  return {
    blockTime: now,
    meta: { err: null, preTokenBalances: [], postTokenBalances: [] },
    transaction: { message: { accountKeys: [{ pubkey: SOLANA_TREASURY }], instructions } },
  }
}

let honestText: string
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close())

beforeEach(() => {
  fullPages = false
  const leaf = { account: 'escrow:a', holder: '0xabc', amount_usd: '10.00', micros: '10000000', salt: 'ab' }
  const root = rootBy({ leaf, path: [] })?.hash ?? ''
  const checked_at = new Date().toISOString()
  const own = { snapshot_id: 'rsv_b', root, total_usd: '10.00' }
  proofs = [{ network: 'base-mainnet', ...own, checked_at, leaf, path: [] }] satisfies LiabilityProof[]
  const networks = [
    { network: 'base-mainnet', ...own, total_micros: '10000000', agent_wallets: null },
    {
      network: 'solana-mainnet',
      snapshot_id: 'rsv_s',
      root: '0'.repeat(64),
      total_usd: '0.00',
      total_micros: '0',
      agent_wallets: null,
    },
  ] as ReserveAnchor['networks']
  honestText = anchorText({ day: today, networks })
  const anchored = { network: 'solana-mainnet', account: SOLANA_TREASURY, signature: '5Zt', final_at: '' }
  anchors = [{ day: today, text: honestText, networks, anchored }]
  const common = { cold: null, checked_at, venues_usd: null, in_flight: [], in_flight_count: 0 }
  const rest = { ...common, in_flight_usd: '0.00', proof: null }
  solvency = [
    { ...rest, network: 'base-mainnet', treasury: TREASURY, liabilities_usd: '10.00' },
    { ...rest, network: 'solana-mainnet', treasury: SOLANA_TREASURY, liabilities_usd: '0.00' },
  ]
})

async function verify(...args: string[]) {
  const nodes = ['--rpc', `base-mainnet=${url}`, '--rpc', `solana-mainnet=${url}`, '--tries', '1']
  const environment = { XDG_CONFIG_HOME: '/nonexistent', MARKET_API_URL: url, MARKET_API_KEY: 'market_x' }
  const { status, out, error } = await runProgram(['solvency', 'verify', ...nodes, ...args], environment)
  return { status, out: out + error }
}

test('an honest server passes, and the treasury is printed as what the API says', async () => {
  const { status, out } = await verify()
  expect(out).toMatch(/^ok +treasury base-mainnet +holds 10\.00.* as the API says$/m)
  expect(status).toBe(0)
})

const inFlight = (...references: string[]) => {
  solvency[0].in_flight = references.map((reference) => ({ reference, replaces: [], amount_usd: '2.00' }))
  solvency[0].in_flight_count = references.length
  solvency[0].in_flight_usd = `${references.length * 2}.00`
}
const owes = (amount: string) => {
  solvency[0].liabilities_usd = amount
}
const coldAt = (address: string) => {
  solvency[0].cold = { address, assets_usd: '10.00' }
}

test.each<[string, () => void, RegExp]>([
  ['the cold address is the treasury', () => coldAt(TREASURY.toLowerCase()), /counted twice/],
  [
    'the cold address is padded',
    () => coldAt(TREASURY.replace('0x', `0x${'0'.repeat(24)}`)),
    /not an address/,
  ],
  ['a payout is listed in two cases', () => inFlight(PAYOUT, PAYOUT.replace(/cd/g, 'CD')), /listed twice/],
  [
    'a payout and what it replaces both count',
    () => {
      inFlight(PAYOUT)
      solvency[0].in_flight[0].replaces = [`0x${'ef'.repeat(32)}`]
      owes('14.00')
    },
    /sent 2\.00 in flight.*2\.00 is missing/,
  ],
  [
    'a network of --rpc and the anchor is left out',
    () => void solvency.shift(),
    /base-mainnet +the API does not/,
  ],
  [
    'the proof is of another snapshot',
    () => {
      proofs[0].snapshot_id = 'rsv_other'
    },
    /returned snapshot rsv_other/,
  ],
  ['a day is listed twice', () => void anchors.push({ ...anchors[0] }), /lists this day twice/],
  [
    'a second memo cannot be excluded',
    () => {
      fullPages = true
    },
    /another text of that day may exist/,
  ],
])('fails when %s', async (_, lie, problem) => {
  lie()
  const { status, out } = await verify()
  expect(out.split('\n').filter((line) => line.startsWith('FAILED'))).toContainEqual(
    expect.stringMatching(problem),
  )
  expect(status).toBe(1)
})

test('liabilities and assets below the anchored total are a warning with both figures, not ok', async () => {
  anchors[0].networks[0].total_micros = '25000000'
  honestText = anchorText(anchors[0])
  anchors[0].text = honestText
  const { out } = await verify()
  expect(out).toMatch(/^warning +treasury base-mainnet .*owes 10\.00 as the API says, but owed 25\.00/m)
  expect(out).not.toMatch(/^ok +treasury base-mainnet/m)
})

test('--treasury must be what the API says, in any case of an EVM address', async () => {
  expect((await verify('--treasury', `base-mainnet=${TREASURY.toLowerCase()}`)).status).toBe(0)
  const { status, out } = await verify('--treasury', `base-mainnet=0x${'1'.repeat(40)}`)
  expect(status).toBe(1)
  expect(out).toMatch(/FAILED +treasury base-mainnet +the API says/)
})

test('a leaf of a snapshot that is not anchored fails, and passes with --no-anchor', async () => {
  const [{ root }] = proofs
  solvency[0].proof = { snapshot_id: 'rsv_b', root, leaves: 1, liabilities_usd: '10.00' }
  anchors[0].anchored = null
  expect((await verify()).out).toMatch(/FAILED +leaf .*published, but not anchored/)
  expect(await verify('--no-anchor')).toMatchObject({ status: 0 })
})

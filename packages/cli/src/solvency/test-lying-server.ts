import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { anchorText, rootBy } from '@market/solvency'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { runProgram } from '../test-program.ts'

/** One server that is the API, which lies, and the nodes, which do not. */

// biome-ignore lint/suspicious/noExplicitAny: the tampered responses have any shape
type Json = any

export const SOLANA_TREASURY = '8kQwTreasury'
const TREASURY_KEY = privateKeyToAccount(`0x${'7a'.repeat(32)}`)
export const TREASURY = TREASURY_KEY.address
/** Somebody else's: nothing shows that the marketplace controls it. */
export const RICH = `0x${'e1'.repeat(20)}`
export const VENUE_WALLET = `0x${'c3'.repeat(20)}`
export const VAULT = `0x${'d4'.repeat(20)}`
export const AGENT_WALLET = '9xQeWallet'
const BASE_USDC = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
const DAY_MS = 86_400_000

/** The nonce of its authorization. */
const PAYOUT = `0x${'cd'.repeat(32)}`

const seconds = () => Math.floor(Date.now() / 1_000)
const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

interface Memo {
  readonly text: string
  readonly signer: string
  readonly blockTime: number
}

/** What the API says, and what is on the chains. */
interface World {
  solvency: Json[]
  anchors: Json[]
  proofs: Json[]
  omitted: number
  /** USDC in micros by address. */
  readonly usdc: Record<string, bigint>
  /** What the vault would pay for the shares of the venue wallet. */
  vaultValue: bigint
  vaultAsset: string
  /** Memos of transactions that name the Solana treasury, by signature, newest first. */
  memos: Record<string, Memo>
  /** Whether the treasury has more transactions than are searched. */
  isBusy: boolean
}

/** An honest marketplace: it owes 10.00 on Base, holds it in its treasury, and anchored it today. */
function honestWorld(): World {
  const leaf = { account: 'escrow:a', holder: '0xabc', amount_usd: '10.00', micros: '10000000', salt: 'ab' }
  const root = rootBy({ leaf, path: [] })?.hash ?? ''
  const checked_at = new Date().toISOString()
  const own = { snapshot_id: 'rsv_b', root, total_usd: '10.00' }
  const empty = { snapshot_id: 'rsv_s', root: '0'.repeat(64), total_usd: '0.00', total_micros: '0' }
  const networks = [
    { network: 'base-mainnet', ...own, total_micros: '10000000', agent_wallets: null },
    { network: 'solana-mainnet', ...empty, agent_wallets: null },
  ]
  const common = { cold: null, checked_at, venues_usd: '0.00', in_flight: [], in_flight_count: 0, earn: [] }
  const rest = { ...common, in_flight_usd: '0.00', proof: null }
  const world: World = {
    solvency: [
      { ...rest, network: 'base-mainnet', treasury: TREASURY, liabilities_usd: '10.00' },
      { ...rest, network: 'solana-mainnet', treasury: SOLANA_TREASURY, liabilities_usd: '0.00' },
    ],
    anchors: [{ day: new Date().toISOString().slice(0, 10), text: '', networks }],
    proofs: [{ network: 'base-mainnet', ...own, checked_at, leaf, path: [] }],
    omitted: 0,
    usdc: { [TREASURY.toLowerCase()]: 10_000_000n, [RICH]: 1_000_000_000n },
    vaultValue: 0n,
    vaultAsset: BASE_USDC,
    memos: {},
    isBusy: false,
  }
  publish(world)
  return world
}

/** Anchors the roots of the first listed day as they are now. */
export function publish(world: World, { signer = SOLANA_TREASURY, blockTime = seconds() } = {}): void {
  const [anchor] = world.anchors
  anchor.text = anchorText(anchor)
  anchor.anchored = { network: 'solana-mainnet', account: signer, signature: 'anchor', final_at: '' }
  world.memos['anchor'] = { text: anchor.text, signer, blockTime }
}

/** By the treasury of Base, unless by another key or over another text. */
export async function baseSignature(text: string, key = TREASURY_KEY) {
  return { network: 'base-mainnet', treasury: TREASURY, signature: await key.signMessage({ message: text }) }
}

/** Where no lie says otherwise, the treasury of Base signed what is listed. */
const withSignatures = (anchors: Json[]) =>
  Promise.all(
    anchors.map(async (anchor) => {
      const isOnBase = anchor.networks.some(({ network }: Json) => network === 'base-mainnet')
      return { signatures: isOnBase ? [await baseSignature(anchor.text)] : [], ...anchor }
    }),
  )

/** What the API can lie about. */
const liesIn = (world: World) => {
  const [base] = world.solvency
  const [anchor] = world.anchors
  const dayIn = (days: number) => dayAfter(anchor.day, days)
  return {
    owes: (amount: string) => Object.assign(base, { liabilities_usd: amount }),
    venuesHold: (amount: string) => Object.assign(base, { venues_usd: amount }),
    coldAt: (address: string) => Object.assign(base, { cold: { address, assets_usd: '10.00' } }),
    inFlight: (...references: string[]) =>
      Object.assign(base, {
        in_flight: references.map((reference) => ({ reference, replaces: [], amount_usd: '2.00' })),
        in_flight_count: references.length,
        in_flight_usd: `${references.length * 2}.00`,
      }),
    payout: PAYOUT,
    dayIn,
    textIn: (days: number) => `market.reserves.v1 ${dayIn(days)} ${'1'.repeat(64)}`,
    /** A memo on the chain that is newer than the others. */
    memo: (text: string, { signer = SOLANA_TREASURY, secondsAgo = 0 } = {}) => {
      world.memos = { other: { text, signer, blockTime: seconds() - secondsAgo }, ...world.memos }
    },
    /** The anchor of another day, published some days ago. */
    anchorOf: (days: number, publishedDaysAgo: number) => {
      anchor.day = dayIn(days)
      publish(world, { blockTime: seconds() - publishedDaysAgo * 86_400 })
    },
    /** A day that the API says is not anchored. */
    pending: (days: number, text: string) =>
      world.anchors.unshift({ ...anchor, day: dayIn(days), text, anchored: null, signatures: [] }),
  }
}

function ethCall(world: World, to: string, data: string): string {
  if (to === VAULT) {
    if (data.startsWith('0x38d52e0f')) return `0x${world.vaultAsset.slice(2).padStart(64, '0')}`
    return `0x${(data.startsWith('0x4cdad506') ? world.vaultValue : 1n).toString(16)}`
  }
  return `0x${(world.usdc[`0x${data.slice(-40)}`] ?? 0n).toString(16)}`
}

const topicOf = (address: string): string => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`

const USE = {
  ...{ address: BASE_USDC, topics: [], data: '0x', logIndex: '0x0' },
  ...{ blockNumber: '0x1', transactionHash: `0x${'ab'.repeat(32)}` },
}

function callNode(world: World, { method, params }: { method: string; params: Json[] }): Json {
  if (method === 'eth_call') return ethCall(world, params[0].to, params[0].data)
  if (method === 'eth_getBlockByNumber') return { number: '0x1', timestamp: `0x${seconds().toString(16)}` }
  // Every authorization of the treasury was used, and paid 2.00.
  if (method === 'eth_getLogs') {
    const [{ topics }] = params
    return [{ ...USE, topics }].filter(() => topics[1] === topicOf(TREASURY))
  }
  if (method === 'eth_getTransactionReceipt') {
    const topics = [TRANSFER_TOPIC, topicOf(TREASURY), topicOf(RICH)]
    return { logs: [USE, { ...USE, topics, data: '0x1e8480', logIndex: '0x1' }] }
  }
  if (method === 'getTokenAccountsByOwner') {
    const tokenAmount = { amount: String(world.usdc[params[0]] ?? 0n) }
    return { value: [{ account: { data: { parsed: { info: { tokenAmount } } } } }] }
  }
  if (method === 'getSignaturesForAddress') {
    const other = { memo: null, err: null, blockTime: seconds(), signature: 'x' }
    if (world.isBusy) return Array.from({ length: params[1].limit }, () => other)
    return Object.entries(world.memos).map(([signature, { text: memo, blockTime }]) => {
      return { memo: `[${memo.length}] ${memo}`, err: null, blockTime, signature }
    })
  }
  const memo = world.memos[params[0]]
  if (memo === undefined) return null
  const accountKeys = [
    { pubkey: memo.signer, signer: true },
    { pubkey: SOLANA_TREASURY, signer: memo.signer === SOLANA_TREASURY },
  ]
  const instructions = [{ programId: MEMO_PROGRAM, parsed: memo.text }]
  return {
    blockTime: memo.blockTime,
    meta: { err: null, preTokenBalances: [], postTokenBalances: [] },
    transaction: { message: { accountKeys, instructions } },
  }
}

async function startLyingServer(worldNow: () => World) {
  const server = createServer(async (request, response) => {
    const { solvency, anchors, proofs, omitted } = worldNow()
    const path = request.url ?? ''
    let body: Json
    if (request.method === 'POST')
      body = { jsonrpc: '2.0', id: 1, result: callNode(worldNow(), JSON.parse(await text(request))) }
    else if (path.startsWith('/api/solvency/anchors'))
      body = { success: true, data: await withSignatures(anchors), next_cursor: null }
    else if (path.startsWith('/api/solvency/proof')) {
      const isOther = path.includes('rsv_s')
      body = { success: true, data: isOther ? [] : proofs, omitted: isOther ? 0 : omitted }
    } else body = { success: true, data: solvency }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() }
}

/** Starts the server for the tests of a file. Each test begins with an honest marketplace. */
export function useLyingServer() {
  let server: Awaited<ReturnType<typeof startLyingServer>>
  let world: World
  let lies: ReturnType<typeof liesIn>
  beforeAll(async () => {
    server = await startLyingServer(() => world)
  })
  afterAll(() => void server.stop())
  beforeEach(() => {
    world = honestWorld()
    lies = liesIn(world)
  })
  const rpc = (...networks: string[]) => networks.flatMap((network) => ['--rpc', `${network}=${server.url}`])
  return {
    get url() {
      return server.url
    },
    get world() {
      return world
    },
    get lies() {
      return lies
    },
    rpc,
    both: () => rpc('base-mainnet', 'solana-mainnet'),
  }
}

/** Runs the command in this process. */
export async function verify(url: string, args: readonly string[], credential = true) {
  const environment = {
    XDG_CONFIG_HOME: '/nonexistent',
    MARKET_API_URL: url,
    ...(credential && { MARKET_API_KEY: 'market_x' }),
  }
  const { status, out, error } = await runProgram(
    ['solvency', 'verify', '--tries', '1', ...args],
    environment,
  )
  return { status, out: out + error }
}

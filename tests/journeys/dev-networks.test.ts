import { getAddressDecoder } from '@solana/kit'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import pg from 'pg'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type Dev, startDev } from './dev-process.ts'
import { runQuickStart } from './quick-start.ts'

let dev: Dev
beforeAll(async () => {
  dev = await startDev(['--verbose'])
})
afterAll(() => dev?.clear())

const EVM = { 'base-mainnet': 8453, 'alt-mainnet': 42_161 } as const
const EVM_NAMES = ['base-mainnet', 'alt-mainnet'] as const
const NAMES = ['solana-mainnet', ...EVM_NAMES] as const
type Name = (typeof NAMES)[number]

const USDC: Readonly<Record<Name, string>> = {
  'solana-mainnet': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'base-mainnet': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  'alt-mainnet': '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
}
const ENOUGH = { withinMs: 30_000, everyMs: 100 }

const place = (name: Name) => {
  const found = dev.at.networks[name]
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}

// biome-ignore lint/suspicious/noExplicitAny: a node's answer, whose fields are what the test looks at
async function rpc(name: Name, method: string, ...params: unknown[]): Promise<any> {
  const response = await fetch(place(name).rpc, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown }
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

const BALANCE_OF = '0x70a08231'

/** In millionths, as the chain itself tells. */
async function usdcOf(name: Name, owner: string): Promise<bigint> {
  if (name !== 'solana-mainnet') {
    const data = BALANCE_OF + owner.slice(2).toLowerCase().padStart(64, '0')
    return BigInt(await rpc(name, 'eth_call', { to: USDC[name], data }, 'latest'))
  }
  const filter = { mint: USDC[name] }
  const config = { encoding: 'jsonParsed', commitment: 'confirmed' }
  const { value } = await rpc(name, 'getTokenAccountsByOwner', owner, filter, config)
  return BigInt(value[0]?.account.data.parsed.info.tokenAmount.amount ?? 0)
}

/** In the coin's smallest unit. */
async function nativeOf(name: Name, owner: string): Promise<bigint> {
  if (name !== 'solana-mainnet') return BigInt(await rpc(name, 'eth_getBalance', owner, 'latest'))
  return BigInt((await rpc(name, 'getBalance', owner, { commitment: 'confirmed' })).value)
}

const COIN: Readonly<Record<Name, bigint>> = {
  'solana-mainnet': 10n ** 9n,
  'base-mainnet': 10n ** 18n,
  'alt-mainnet': 10n ** 18n,
}

const someBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length))

/** An unused address. */
const otherUser = (name: Name): string =>
  name === 'solana-mainnet'
    ? getAddressDecoder().decode(someBytes(32))
    : `0x${Buffer.from(someBytes(20)).toString('hex')}`

async function ask(path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const reply = await dev.control(path, body)
  expect(reply).toMatchObject({ status: 200 })
  return reply.body
}

describe('dev networks: the JSON line', () => {
  test('lists the three networks of the marketplace with their USDC addresses', () => {
    expect(Object.keys(dev.at.networks)).toEqual(NAMES)
    for (const name of NAMES) expect(place(name).usdc).toBe(USDC[name])
  })

  test.each(EVM_NAMES)('%s: the node has its chain id and a token with six decimals', async (name) => {
    expect(Number(await rpc(name, 'eth_chainId'))).toBe(EVM[name])
    expect(Number(await rpc(name, 'eth_call', { to: USDC[name], data: '0x313ce567' }, 'latest'))).toBe(6)
  })

  test('solana-mainnet: the node has its own genesis hash and a mint with six decimals', async () => {
    expect(await rpc('solana-mainnet', 'getGenesisHash')).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/)
    const mint = await rpc('solana-mainnet', 'getAccountInfo', USDC['solana-mainnet'], {
      encoding: 'jsonParsed',
    })
    expect(mint.value.data.parsed).toMatchObject({ type: 'mint', info: { decimals: 6 } })
  })

  test('configures them for the api and the worker', () => {
    for (const program of ['api', 'worker'])
      for (const name of NAMES)
        expect(dev.said.err).toMatch(
          new RegExp(`"name":"${program}"[^\\n]*"network":"${name}"[^\\n]*"msg":"network is open"`),
        )
  })

  test('treasuries hold native coin for fees and no USDC', async () => {
    for (const name of NAMES) {
      const { treasury } = place(name)
      expect(await nativeOf(name, treasury)).toBeGreaterThan(COIN[name])
      expect(await usdcOf(name, treasury)).toBe(0n)
    }
  })

  test('blocks are produced and become final without requests', async () => {
    const final = async (name: Name) =>
      name === 'solana-mainnet'
        ? Number(await rpc(name, 'getSlot', { commitment: 'finalized' }))
        : Number((await rpc(name, 'eth_getBlockByNumber', 'finalized', false)).number)
    const before = await Promise.all(NAMES.map(final))
    await until(
      'all went on',
      async () => (await Promise.all(NAMES.map(final))).every((now, at) => now > (before[at] ?? 0)),
      ENOUGH,
    )
  })
})

describe.each(NAMES)('on %s', (network) => {
  test('/fund: adds the amount to the balance on each request', async () => {
    const address = otherUser(network)
    await ask('/fund', { network, address, usdc: '12.5', native: 2 })
    expect(await usdcOf(network, address)).toBe(12_500_000n)
    expect(await nativeOf(network, address)).toBe(2n * COIN[network])
    await ask('/fund', { network, address, usdc: 0.000001 })
    await ask('/fund', { network, address, native: '0.5' })
    expect(await usdcOf(network, address)).toBe(12_500_001n)
    expect(await nativeOf(network, address)).toBe((5n * COIN[network]) / 2n)
  })

  test('/transfer: sends from a new wallet that holds the amount, and that wallet can pay again', async () => {
    const to = otherUser(network)
    const first = await ask('/transfer', { network, to, amount_usd: 3.25 })
    expect(await usdcOf(network, to)).toBe(3_250_000n)
    expect(await usdcOf(network, first['payer'] ?? '')).toBe(0n)
    expect(await ask('/transfer', { network, to, amount_usd: '1', from: first['payer'] })).toMatchObject({
      payer: first['payer'],
      tx: expect.not.stringMatching(first['tx'] ?? ''),
    })
    expect(await usdcOf(network, to)).toBe(4_250_000n)
  })

  test('/wallets: creates a wallet to pay from; other wallets are rejected', async () => {
    const { address: from = '' } = await ask('/wallets', { network })
    const to = otherUser(network)
    expect((await ask('/transfer', { network, to, amount_usd: 1, from }))['payer']).toBe(from)
    const foreign = await dev.control('/transfer', { network, to, amount_usd: 1, from: otherUser(network) })
    expect(foreign).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('is not a wallet of this server') },
    })
    expect(await usdcOf(network, to)).toBe(1_000_000n)
  })

  test('a transfer to the treasury is a real transaction and is observed by the marketplace', async () => {
    const { tx = '', payer } = await ask('/transfer', {
      network,
      to: place(network).treasury,
      amount_usd: 7.5,
    })
    const client = new pg.Client({ connectionString: dev.at.postgres })
    await client.connect()
    try {
      const seen = async () =>
        (
          await client.query(
            'select payer, amount_micros from transfers where network = $1 and reference = $2',
            [network, tx],
          )
        ).rows
      await until('the worker has seen it', async () => (await seen()).length === 1, ENOUGH)
      const [row] = await seen()
      expect(row.payer.toLowerCase()).toBe(payer?.toLowerCase())
    } finally {
      await client.end()
    }
  })

  test('invalid requests return an error message, and no balance changes', async () => {
    const to = otherUser(network)
    const other = otherUser(network === 'solana-mainnet' ? 'base-mainnet' : 'solana-mainnet')
    for (const wrong of [
      { network, to: other, amount_usd: 1 },
      { network, to, amount_usd: 0 },
      { network, to, amount_usd: -1 },
      { network, to, amount_usd: 0.0000001 },
      { network, to, amount_usd: '1e3' },
      { network, to, amount_usd: 2_000_000_000 },
      { network, to, amount_usd: true },
      { network, to },
      { network: 'moon', to, amount_usd: 1 },
      { network, to, amount_usd: 1, more: 1 },
    ]) {
      const { status, body } = await dev.control('/transfer', wrong)
      expect({ wrong, status }).toEqual({ wrong, status: 400 })
      expect(body['error']).toMatch(/\w/)
    }
    expect(await usdcOf(network, to)).toBe(0n)
  })
})

test('the quick start of README.md ends with a payout on chain', async () => {
  const { tx_hash, output } = await runQuickStart(dev.at)
  expect(output).toContain("status: 'sent'")
  expect(await rpc('base-mainnet', 'eth_getTransactionReceipt', tx_hash)).toMatchObject({ status: '0x1' })
})

test('an unmodified x402 client pays with a signature; the platform pays the gas', async () => {
  const account = privateKeyToAccount(generatePrivateKey())
  await ask('/fund', { network: 'base-mainnet', address: account.address, usdc: 5 })
  const paying = wrapFetchWithPayment(
    fetch,
    new x402Client().register('eip155:8453', new ExactEvmScheme(account)),
  )
  const reply = await paying(`${dev.at.api}/api/agents/register?pay=x402`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Paid Registrant', description: 'Registered itself, and paid for it.' }),
  })
  expect(reply.status).toBe(201)
  expect(await usdcOf('base-mainnet', account.address)).toBe(4_000_000n)
  expect(await nativeOf('base-mainnet', account.address)).toBe(0n)
})

test('chain time follows the clock: a transfer after two days has a block time two days later', async () => {
  const timeOf = {
    evm: async (name: Name, tx: string) => {
      const { blockNumber } = await rpc(name, 'eth_getTransactionReceipt', tx)
      return Number((await rpc(name, 'eth_getBlockByNumber', blockNumber, false)).timestamp)
    },
    solana: async (name: Name, tx: string) =>
      Number(
        (
          await rpc(name, 'getTransaction', tx, {
            commitment: 'confirmed',
            maxSupportedTransactionVersion: 0,
          })
        ).blockTime,
      ),
  }
  const payAt = async (network: Name) => {
    const { tx = '' } = await ask('/transfer', { network, to: otherUser(network), amount_usd: 1 })
    return (network === 'solana-mainnet' ? timeOf.solana : timeOf.evm)(network, tx)
  }
  const before = await Promise.all(NAMES.map(payAt))
  const { now = '' } = await ask('/clock/advance', { seconds: 48 * 3_600 })
  for (const [at, name] of NAMES.entries()) {
    const paidAt = await payAt(name)
    expect(paidAt - (before[at] ?? 0)).toBeGreaterThanOrEqual(48 * 3_600)
    expect(Math.abs(paidAt - Date.parse(now) / 1_000)).toBeLessThan(30)
  }
})

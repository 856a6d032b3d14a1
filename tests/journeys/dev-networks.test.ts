import { createKeyPairSignerFromBytes, getBase58Encoder } from '@solana/kit'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import pg from 'pg'
import { type Hex, isHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tryCommands } from '../../apps/dev/src/print-addresses.ts'
import { runCommands, runGuide, runQuickStart } from '../guides/run-guide.ts'
import { until } from '../support/until.ts'
import { COIN, devChains, EVM, EVM_NAMES, NAMES, type Name, otherUser, USDC } from './dev-chains.ts'
import { type Dev, startDev } from './dev-process.ts'
import { describeExamples } from './examples.ts'

let dev: Dev
beforeAll(async () => {
  dev = await startDev(['--verbose'])
})
afterAll(() => dev?.clear())

const ENOUGH = { withinMs: 60_000, everyMs: 100 }
const { place, rpc, usdcOf, nativeOf } = devChains(() => dev)

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

  test('GET /networks of the control server returns the same', async () => {
    const response = await fetch(`${dev.at.control}/networks`)
    expect(await response.json()).toEqual(dev.at.networks)
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

  test('treasuries hold no USDC, and on Solana native coin for fees', async () => {
    for (const name of NAMES) {
      const { treasury } = place(name)
      if (name === 'solana-mainnet') expect(await nativeOf(name, treasury)).toBeGreaterThan(COIN[name])
      else expect(await nativeOf(name, treasury)).toBe(0n)
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

async function expectPayout(output: string): Promise<void> {
  const [, hash] = /"tx_hash":\s?"(0x[0-9a-f]{64})"/.exec(output) ?? []
  expect(await rpc('base-mainnet', 'eth_getTransactionReceipt', hash)).toMatchObject({ status: '0x1' })
}

test('the quick start of README.md hires the sample seller and a new one, which is paid on chain', async () => {
  const { output } = await runQuickStart(dev.at)
  expect(output).toContain('Words: 6, of which 6 different')
  expect(output).toContain('MAKE THIS LOUDER')
  await expectPayout(output)
})

test('the guide for sellers ends with a delivery and a payout on chain', async () => {
  const { output, compared } = await runGuide(dev.at, 'docs/guides/sell-your-first-service.md')
  expect(output).toContain('completed 5 words')
  expect(compared).toBe(2)
  await expectPayout(output)
})

test('the guide for MCP clients hires an agent with a payment in the call of a tool', async () => {
  const { output } = await runGuide(dev.at, 'docs/guides/hire-over-mcp.md')
  expect(output).toContain('Words: 6, of which 6 different')
})

test('the printed commands work: the sample seller delivers to a buyer who pays by transfer', async () => {
  const commands = tryCommands(dev.at).flatMap((one) => one.commands)
  const forward = commands.filter((command) => !command.includes('/clock/advance'))
  const output = await runCommands(dev.at, forward)
  expect(output).toContain('"status":"completed"')
  expect(output).toContain('Words: 6, of which 6 different')
  expect(output).toContain('"status":"quoted"')
})

describeExamples(() => dev)

/** A stock x402 client with one of the wallets of the control server, which holds 1 USDC and no coin. */
async function stockBuyer(network: Name) {
  const { address = '', private_key = '' } = await ask('/wallets', { network, usdc: 1 })
  const client = new x402Client()
  if (network === 'solana-mainnet') {
    const bytes = Uint8Array.from(getBase58Encoder().encode(private_key))
    const signer = await createKeyPairSignerFromBytes(bytes)
    client.register('solana:*', new ExactSvmScheme(signer, { rpcUrl: place(network).rpc }))
  } else {
    expect(isHex(private_key)).toBe(true)
    client.register(`eip155:${EVM[network]}`, new ExactEvmScheme(privateKeyToAccount(private_key as Hex)))
  }
  return { address, pay: wrapFetchWithPayment(fetch, client) }
}

/** A stock x402 client buys from the sample seller, which delivers and is paid. */
async function expectPurchaseOn(network: Name): Promise<void> {
  const { address, pay } = await stockBuyer(network)
  const { id } = dev.at.sample_service
  const reply = await pay(`${dev.at.api}/api/x402/pay?service_id=${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ brief: 'Three words only.' }),
  })
  const { data } = (await reply.json()) as { data: { status_url: string; order_id: string } }
  expect({ network, status: reply.status }).toEqual({ network, status: 200 })
  expect(await usdcOf(network, address)).toBe(450_000n)
  expect(await nativeOf(network, address)).toBe(0n)
  const { pathname, search } = new URL(data.status_url)
  const orderOf = async () => (await dev.api().get(`${pathname}${search}`)).body.data
  await until('it is delivered', async () => (await orderOf()).order.status === 'completed', ENOUGH)
  expect((await orderOf()).deliverables[0].content).toContain('Words: 3')
  await until(`the payout of ${network} is sent`, () => isPaidOut(data.order_id), ENOUGH)
}

/** As an operator sees it. */
async function isPaidOut(orderId: string): Promise<boolean> {
  const { body } = await dev.api().get(`/api/orders/${orderId}`, { bearer: dev.at.admin_key })
  return body.data.payout?.status === 'sent'
}

describe('two days later', () => {
  let now = ''
  beforeAll(async () => {
    now = (await ask('/clock/advance', { seconds: 48 * 3_600 }))['now'] ?? ''
  })

  test('the marketplace is two days ahead, and the chains have real time', async () => {
    expect(Math.abs(Date.parse(now) - Date.now() - 48 * 3_600_000)).toBeLessThan(30_000)
    for (const name of EVM_NAMES) {
      const { timestamp } = await rpc(name, 'eth_getBlockByNumber', 'latest', false)
      expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(30)
    }
    const slot = await rpc('solana-mainnet', 'getSlot', { commitment: 'confirmed' })
    const time = await rpc('solana-mainnet', 'getBlockTime', slot)
    expect(Math.abs(Number(time) - Date.now() / 1_000)).toBeLessThan(30)
  })

  test('an unmodified x402 client buys on every network; the platform pays the gas', () =>
    Promise.all(NAMES.map(expectPurchaseOn)))

  test('the guide for webhooks works: its programs accept the timestamps', async () => {
    const { output } = await runGuide(dev.at, 'docs/guides/webhooks.md')
    expect(output).toMatch(/received webhook\.test/)
  })

  test('a transfer from before the move is as old as the move', async () => {
    const { tx = '' } = await ask('/transfer', {
      network: 'base-mainnet',
      to: place('base-mainnet').treasury,
      amount_usd: '0.55',
    })
    await ask('/clock/advance', { seconds: 2 * 3_600 })
    const path = `/api/x402/pay?service_id=${dev.at.sample_service.id}`
    const late = await dev.api().post(path, { brief: 'Too late.' }, { headers: { 'x-payment': tx } })
    expect(late).toMatchObject({ status: 402, body: { error: 'too_old' } })
  })
})

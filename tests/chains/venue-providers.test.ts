import { evmVenue } from '@market/chains/evm/venue/evm-venue'
import { localEvmSigner } from '@market/chains/local-signers'
import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import { erc4626Abi, getAbiItem, toFunctionSelector, toHex } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type RpcCall, relayTo } from './node-relay.ts'
import { depositInto, marketOf, run, startVenue, USDC } from './venue-world.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const first = await relayTo(network.url)
const second = await relayTo(network.url)
afterAll(async () => {
  for (const part of [first, second, network]) await part.stop()
})
beforeEach(() => {
  first.mood = { kind: 'pass' }
  second.mood = { kind: 'pass' }
})

/** The same venue by two providers that must agree. */
const startTwice = async (kind: Parameters<typeof startVenue>[1] = 'lending') => {
  const world = await startVenue(network, kind)
  const { shares } = await depositInto(world, 100n * USDC)
  const settings = { ...world.settings, rpcUrls: [first.url, second.url], minProviders: 2 }
  const venue = evmVenue(settings, localEvmSigner(world.wallet.key), marketOf(world.vault.address))
  return { ...world, shares, venue, one: world.venue }
}

const selectorOf = (name: 'previewRedeem' | 'previewDeposit') =>
  toFunctionSelector(getAbiItem({ abi: erc4626Abi, name }))

const calls = (name: Parameters<typeof selectorOf>[0]) => {
  const selector = selectorOf(name)
  return ({ method, params: [request] }: RpcCall) =>
    method === 'eth_call' && String((request as { readonly data?: string }).data).startsWith(selector)
}

/** A node whose vault redeems for less, in permille. */
const redeemsFor = (permille: bigint) => ({
  kind: 'change' as const,
  result: (call: RpcCall, result: unknown) =>
    calls('previewRedeem')(call) ? toHex((BigInt(String(result)) * permille) / 1_000n, { size: 32 }) : result,
})

const contradiction = {
  kind: 'unavailable',
  message: expect.stringMatching(
    /^The providers 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ of base-mainnet contradict each other about the vault/,
  ),
}
const tooFew = {
  kind: 'unavailable',
  message: expect.stringMatching(/^1 of 2 required providers of base-mainnet show the vault \(127/),
}

test('read: two providers that agree', async () => {
  const { venue, shares } = await startTwice()
  expect(await venue.read(shares)).toMatchObject({ value: 100n * USDC, liquid: 100n * USDC, isHonest: true })
  expect(await venue.redeemable(shares)).toEqual({ shares, assets: 100n * USDC })
  expect(await venue.depositProblem(usdc(USDC))).toBeUndefined()
})

test('read: of values that differ by up to 0.1 % the lower counts', async () => {
  const { venue, shares } = await startTwice()
  second.mood = redeemsFor(999n)
  expect((await venue.read(shares)).value).toBe(99_900_000n)
  ;[first.mood, second.mood] = [second.mood, { kind: 'pass' }]
  expect((await venue.read(shares)).value).toBe(99_900_000n)
})

test('read: values that differ by more are unavailable, and the message names the providers without a key', async () => {
  const { venue, shares } = await startTwice()
  second.mood = redeemsFor(998n)
  await expect(venue.read(shares)).rejects.toMatchObject(contradiction)
  const said = await venue.read(shares).catch((error: Error) => `${error.message} ${String(error.cause)}`)
  expect(said).not.toContain('the-key-of-the-provider')
})

test('read: one provider is not enough, also when the other is far behind', async () => {
  const { venue, shares } = await startTwice()
  second.mood = { kind: 'reset' }
  await expect(venue.read(shares)).rejects.toMatchObject(tooFew)
  await expect(venue.redeemable(shares)).rejects.toMatchObject(tooFew)
  await expect(venue.depositProblem(usdc(USDC))).rejects.toMatchObject(tooFew)
  const height = BigInt(String(await network.rpc('eth_blockNumber')))
  await network.mine(40)
  second.mood = {
    kind: 'change',
    result: ({ method }, result) => (method === 'eth_blockNumber' ? toHex(height) : result),
  }
  await expect(venue.redeemable(shares)).rejects.toMatchObject(tooFew)
})

test('read: the worse of two providers counts for deposits', async () => {
  const { venue, shares } = await startTwice()
  second.mood = {
    kind: 'error',
    code: 3,
    message: 'execution reverted: paused',
    when: calls('previewDeposit'),
  }
  expect((await venue.read(shares)).acceptsDeposits).toBe(false)
  expect(await venue.depositProblem(usdc(USDC))).toBe(
    'The vault rejects a deposit: execution reverted: paused.',
  )
})

test('read: all numbers come from one block, also while blocks are mined', async () => {
  const { venue, shares } = await startTwice()
  const blocks = new Set<unknown>()
  second.mood = {
    kind: 'change',
    result: ({ method, params }, result) => {
      if (method === 'eth_call' || method === 'eth_simulateV1') blocks.add(params[1])
      return result
    },
  }
  const height = await network.rpc('eth_blockNumber')
  await venue.read(shares)
  expect([...blocks]).toEqual([height])
})

test('read: on nodes without simulations of several calls, the vault’s own statements count', async () => {
  const { venue, vault, shares } = await startTwice('lying')
  const noSimulation = {
    kind: 'error',
    code: -32_601,
    message: 'the method eth_simulateV1 does not exist/is not available',
    when: ({ method }: RpcCall) => method === 'eth_simulateV1',
  } as const
  first.mood = noSimulation
  second.mood = noSimulation
  const whole = { value: 100n * USDC, liquid: 100n * USDC, isHonest: true, acceptsDeposits: true }
  expect(await venue.read(shares)).toMatchObject(whole)
  await vault.lie(100n)
  expect(await venue.read(shares)).toMatchObject(whole)
  // The other node finds the lie.
  second.mood = { kind: 'pass' }
  expect(await venue.read(shares).catch(({ kind }: { kind: string }) => kind)).toBe('unavailable')
})

test('redeemable and depositProblem: work without simulations of several calls', async () => {
  const world = await startTwice()
  const { venue, vault, one, shares } = world
  const noSimulation = {
    kind: 'error',
    code: -32_603,
    message: 'method handler crashed',
    when: ({ method }: RpcCall) => method === 'eth_simulateV1',
  } as const
  first.mood = noSimulation
  second.mood = noSimulation
  await vault.borrow(40n * USDC)
  expect((await venue.redeemable(shares)).assets).toBe(60n * USDC)
  await run({ network, venue: one }, 'approve', 50n * USDC)
  expect(await venue.depositProblem(usdc(50n * USDC))).toBeUndefined()
  await vault.pause(true)
  expect(await venue.depositProblem(usdc(50n * USDC))).toContain('paused')
  // Without an approval only the preview can be asked.
  expect(await venue.depositProblem(usdc(51n * USDC))).toBeUndefined()
})

test('read: an error of a node is never taken for an answer of the vault', async () => {
  const { venue, shares } = await startTwice()
  second.mood = {
    kind: 'error',
    code: -32_005,
    message: 'rate limit exceeded',
    when: ({ method }) => method === 'eth_simulateV1',
  }
  await expect(venue.read(shares)).rejects.toMatchObject(tooFew)
})

test('receiptOf: providers must show the same receipt', async () => {
  const world = await startTwice()
  const { venue, one, shares } = world
  const reference = await run({ network, venue: one }, 'redeem', shares / 10n)
  expect(await venue.receiptOf(reference)).toMatchObject({ assets: 10n * USDC })
  second.mood = {
    kind: 'change',
    result: ({ method }, result) => {
      if (method !== 'eth_getTransactionReceipt') return result
      const receipt = result as { readonly logs: readonly unknown[] }
      return { ...receipt, logs: receipt.logs.slice(1) }
    },
  }
  await expect(venue.receiptOf(reference)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('Too few providers of base-mainnet show the same receipt'),
  })
})

test('counts: a provider that reports transactions that nobody sent does not count', async () => {
  const { venue, one } = await startTwice()
  const nonce = (await one.counts(one.wallet)).mined
  second.mood = {
    kind: 'change',
    result: ({ method }, result) => (method === 'eth_getTransactionCount' ? toHex(nonce + 1_000n) : result),
  }
  expect((await venue.counts(venue.wallet)).mined).toBe(nonce)
})

const MOVE = 'emv_1794943667753_054ax4hrsbnxl9vqd'

/** What the wallet sent, by both providers. */
async function startSent() {
  const world = await startTwice()
  const { one, shares } = world
  const steps = [
    ['deposit', 10n * USDC],
    ['redeem', shares / 5n],
    ['return', 1n],
  ] as const
  await run(world, 'approve', 10n * USDC, MOVE)
  for (const [step, amount] of steps) await run({ ...world, venue: one }, step, amount, MOVE)
  const read = async () => {
    const { height } = await one.counts(one.wallet)
    return world.venue.sentBetween(one.wallet, 0n, height)
  }
  return { ...world, read }
}

test('sentBetween: what the wallet sent by id and nonce, also where an argument ends with letters', async () => {
  const { read } = await startSent()
  const named = (await read()).filter(({ actionId }) => actionId?.startsWith(MOVE))
  expect(named.toSorted((a, b) => Number(a.nonce - b.nonce))).toEqual(
    ['approve', 'deposit', 'redeem', 'return'].map((step, index) => ({
      reference: expect.any(String),
      nonce: 2n + BigInt(index),
      actionId: `${MOVE}:${step}`,
    })),
  )
})

test.each([
  ['leaves out a log', 'eth_getLogs', () => [], 'contradict each other'],
  ['does not have a transaction', 'eth_getTransactionByHash', () => null, 'Too few providers'],
  [
    'shows another id',
    'eth_getTransactionByHash',
    (shown: object) => ({ ...shown, input: '0x' }),
    'contradict each other',
  ],
] as const)('sentBetween: a provider that %s hides nothing', async (_, asked, change, message) => {
  const { read } = await startSent()
  second.mood = {
    kind: 'change',
    result: ({ method }, result) => (method === asked ? change(result as object) : result),
  }
  await expect(read()).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining(message),
  })
})

import { usdc } from '@market/kernel/money'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { expectWithin } from '../support/measured.ts'
import { blockOf, newestAfter } from './evm-movements.ts'
import { question, verdict } from './evm-world.ts'
import { type Mood, relayTo } from './node-relay.ts'
import { IS_AWAY, isOf, startRelayedWorld, TIMEOUT_MS, untilAvailable } from './relayed-world.ts'

/** For a silent node beside one that responds, also on a busy machine. */
const LONG_MS = 6_000
const KEY = 'the-key-of-the-provider'

const world = await startRelayedWorld()
const { network, foreign, first, second, treasury, gas, payer, paid, by } = world
const lagging = await startEvmNetwork({ chainId: 8453 })
afterAll(async () => {
  await world.stop()
  await lagging.stop()
})
beforeEach(() => world.calm())

const genesis = await blockOf(network, 0n)
const start = { height: 0n, hash: genesis.hash }

/** Every read operation of a chain, with the result of the real one. */
const QUESTIONS: Record<string, (parts: ReturnType<typeof by>) => Promise<unknown>> = {
  'whether a payment came': async ({ chain }) => verdict(await chain.findTransfer(question(paid))),
  'whether too small a payment came': async ({ chain }) =>
    verdict(await chain.findTransfer(question(paid, { minAmount: usdc(12n) }))),
  'what moved in the newest blocks': async ({ chain }) =>
    (await newestAfter(chain, start, null, 10))?.incoming.map(({ amount }) => amount),
  'what moved in the final blocks': async ({ chain }) =>
    (await chain.finalMovementsAfter(start)).agreed?.incoming.map(({ amount }) => amount),
  'where the reading starts': async ({ chain }) => chain.startingBlock(),
  'what the treasury holds': async ({ chain }) => {
    const { final, latest } = await chain.balanceOf(treasury.address)
    return { final, latest }
  },
  'how many transactions of the gas account are mined': async ({ sender }) =>
    sender.batches?.mined(gas.address),
  'whether a payout can still be made': async ({ sender }) =>
    sender.observe([{ reference: '0x12', bytes: '0x12', validTo: 2n ** 40n }]),
  'what a transaction cost': async ({ sender }) => sender.costOf?.(paid),
  'whether a payee can be paid': async ({ sender }) =>
    sender.rejectionReason({ mark: 'pay_1', to: payer.address, amount: usdc(1n) }),
  'coin for fees': async ({ sender }) => sender.nativeBalance(),
}
const TRUTH: Record<string, unknown> = {
  'whether a payment came': 'ok, final',
  'whether too small a payment came': 'rejected: underpaid',
  'what moved in the newest blocks': [11n],
  'what moved in the final blocks': [11n],
  'where the reading starts': start,
  'what the treasury holds': { final: 11n, latest: 11n },
  'how many transactions of the gas account are mined': 0n,
  'whether a payout can still be made': { kind: 'unknown' },
  'what a transaction cost': undefined,
  'whether a payee can be paid': undefined,
  'coin for fees': 10n ** 18n,
}

const TROUBLES: Record<string, Mood> = {
  'fails with 500': { kind: 'answer', status: 500, body: 'oops' },
  'limits our rate with 429': { kind: 'answer', status: 429, body: '{"error":"slow down"}' },
  'answers a page of HTML': { kind: 'answer', status: 200, body: '<html></html>' },
  'answers one error for all questions': {
    kind: 'answer',
    status: 200,
    body: '{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"limit exceeded"}}',
  },
  'answers nothing': { kind: 'answer', status: 200, body: '[]' },
  'cuts the connection': { kind: 'reset' },
  'is slower than the timeout': { kind: 'silence' },
  'rejects every question': { kind: 'error', code: -32_000, message: 'upstream busy' },
  'is on another chain': {
    kind: 'change',
    result: (call, result) => (call.method === 'eth_chainId' ? '0x7a69' : result),
  },
  'says yes to everything': { kind: 'change', result: () => true },
  'answers null to everything': { kind: 'change', result: () => null },
}

const timeoutFor = (mood: Mood) => (mood.kind === 'silence' ? { timeoutMs: TIMEOUT_MS * 2 } : {})

test('an unknown payment is returned without waiting for a failing node', async () => {
  const { chain } = by([first.url, second.url], { timeoutMs: LONG_MS })
  second.mood = { kind: 'silence' }
  const unknown = question(`0x${'cd'.repeat(32)}`)
  expect(verdict(await chain.findTransfer(unknown))).toBe('pending: unknown')
  const asked = second.requests()
  expect(verdict(await chain.findTransfer(unknown))).toBe('pending: unknown')
  expect(second.requests()).toBe(asked)
})

describe.each(Object.entries(QUESTIONS))('request: %s', (name, ask) => {
  test('returns the correct result', async () => {
    expect(await ask(by([first.url, second.url]))).toEqual(TRUTH[name])
  })

  test.each(Object.entries(TROUBLES))(
    'when the first node %s, the second one is used',
    async (_name, mood) => {
      first.mood = mood
      const parts = by([first.url, second.url], timeoutFor(mood))
      expect(await untilAvailable(() => ask(parts))).toEqual(TRUTH[name])
    },
  )

  test.each(Object.entries(TROUBLES))('when the only node %s, throws `unavailable`', async (_name, mood) => {
    first.mood = mood
    await expect(ask(by([first.url], timeoutFor(mood)))).rejects.toMatchObject(IS_AWAY)
  })

  test('an unreachable node is skipped', async () => {
    const gone = await relayTo(network.url)
    await gone.stop()
    expect(await ask(by([gone.url, second.url]))).toEqual(TRUTH[name])
    await expect(ask(by([gone.url]))).rejects.toMatchObject(IS_AWAY)
  })

  test('a node of another chain is never used, although it has the same transaction', async () => {
    await expect(ask(by([foreign.url]))).rejects.toMatchObject(IS_AWAY)
    expect(await ask(by([foreign.url, second.url]))).toEqual(TRUTH[name])
  })
})

test('when a node rejects one call, the whole query runs on the next node', async () => {
  for (const method of ['eth_getTransactionReceipt', 'eth_blockNumber', 'eth_getBlockByNumber']) {
    first.mood = { kind: 'error', code: -32_005, message: 'limit exceeded', when: isOf(method) }
    const { chain } = by([first.url, second.url], { compareEveryMs: 0 })
    expect(verdict(await chain.findTransfer(question(paid))), method).toBe('ok, final')
  }
})

test('a node is asked for its chain once, and again after a failure', async () => {
  let [asked, id] = [0, '0x2105']
  const answerChain: Mood = {
    kind: 'change',
    result: (call, result) => {
      if (call.method !== 'eth_chainId') return result
      asked++
      return id
    },
  }
  first.mood = answerChain
  const { chain } = by([first.url], { cooldownMs: 0 })
  for (let n = 0; n < 3; n++) expect(verdict(await chain.findTransfer(question(paid)))).toBe('ok, final')
  expect(asked).toBe(1)
  first.mood = { kind: 'reset' }
  await expect(chain.findTransfer(question(paid))).rejects.toMatchObject(IS_AWAY)
  first.mood = answerChain
  id = '0x7a69'
  await expect(chain.findTransfer(question(paid))).rejects.toMatchObject(IS_AWAY)
  expect(asked).toBe(2)
})

test('a slow node costs one timeout and is then avoided for a while', async () => {
  const { chain } = by([first.url, second.url], { timeoutMs: LONG_MS })
  expect(verdict(await chain.findTransfer(question(paid)))).toBe('ok, final')
  first.mood = { kind: 'silence' }
  const started = performance.now()
  expect(verdict(await chain.findTransfer(question(paid)))).toBe('ok, final')
  const took = performance.now() - started
  expect(took).toBeGreaterThanOrEqual(LONG_MS - 1)
  expectWithin(took, LONG_MS * 2)
  const asked = first.requests()
  for (let round = 0; round < 5; round++) await chain.findTransfer(question(paid))
  expect(first.requests()).toBe(asked)
})

test('a recovered node is used again', async () => {
  const { chain } = by([first.url, second.url], { cooldownMs: 50 })
  first.mood = { kind: 'answer', status: 500, body: '' }
  await chain.findTransfer(question(paid))
  first.mood = { kind: 'pass' }
  second.mood = { kind: 'reset' }
  expect(verdict(await chain.findTransfer(question(paid)))).toBe('ok, final')
})

test('nodes that fail at random never cause a wrong result', async () => {
  const choices: Mood[] = [{ kind: 'pass' }, ...Object.values(TROUBLES)]
  const parts = by([first.url, second.url], { cooldownMs: 5, compareEveryMs: 5, timeoutMs: 200 })
  let told = 0
  for (let round = 0; round < 50; round++) {
    first.mood = choices[(round * 7) % choices.length] ?? { kind: 'pass' }
    second.mood = choices[(round * 5 + 3) % choices.length] ?? { kind: 'pass' }
    for (const [name, ask] of Object.entries(QUESTIONS).slice(round % 3, (round % 3) + 3)) {
      const answer = await ask(parts).then(
        (value) => ({ value }),
        (failure: unknown) => ({ failure }),
      )
      if ('failure' in answer) expect(answer.failure).toMatchObject(IS_AWAY)
      else expect(answer.value).toEqual(TRUTH[name])
      if ('value' in answer) told += 1
    }
  }
  expect(told).toBeGreaterThan(5)
})

test('a query on many failing nodes takes at most two timeouts', async () => {
  first.mood = { kind: 'silence' }
  const { chain } = by(
    Array.from({ length: 5 }, () => first.url),
    { compareEveryMs: 3_600_000, timeoutMs: TIMEOUT_MS },
  )
  await expect(chain.findTransfer(question(paid))).rejects.toMatchObject(IS_AWAY)
  const started = performance.now()
  await expect(chain.findTransfer(question(paid))).rejects.toMatchObject(IS_AWAY)
  expectWithin(performance.now() - started, TIMEOUT_MS * 3)
})

test('a node far behind another one is not queried', async () => {
  const { chain } = by([lagging.url, second.url], { maxLagBlocks: 5 })
  expect(await chain.balanceOf(treasury.address)).toMatchObject({ final: 11n, latest: 11n })
  second.mood = { kind: 'reset' }
  await expect(chain.balanceOf(treasury.address)).rejects.toMatchObject(IS_AWAY)
})

test('a slightly lagging node does not make a payment unknown', async () => {
  const { chain } = by([lagging.url, second.url], { maxLagBlocks: 1_000 })
  expect(verdict(await chain.findTransfer(question(paid)))).toBe('ok, final')
  expect(verdict(await chain.findTransfer(question(`0x${'ab'.repeat(32)}`)))).toBe('pending: unknown')
})

test('errors contain only the host of a node URL', async () => {
  const everything = (failure: unknown): string =>
    failure instanceof Error
      ? [failure.message, failure.stack, everything(failure.cause), ...nested(failure)].join('\n')
      : String(failure)
  const nested = (failure: Error): string[] =>
    failure instanceof AggregateError ? failure.errors.map(everything) : []
  const leaky: Mood = { kind: 'error', code: -1, message: `see ${first.url} for the limits` }
  for (const mood of [...Object.values(TROUBLES), leaky]) {
    first.mood = mood
    for (const ask of Object.values(QUESTIONS)) {
      const failure: unknown = await ask(by([first.url], timeoutFor(mood))).catch((one: unknown) => one)
      expect(everything(failure)).not.toContain(KEY)
    }
  }
})

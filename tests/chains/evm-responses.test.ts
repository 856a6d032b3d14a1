import type { EvmPayoutSenderSettings } from '@market/chains/evm/evm-payout-sender'
import type { PayoutRequest, PayoutSender } from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { type Hex, parseTransaction, toHex } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { batchesOf, newPayout, payOut, readWhole } from './evm-movements.ts'
import { question, verdict } from './evm-world.ts'
import type { NodeRelay, RpcCall } from './node-relay.ts'
import { IS_AWAY, isOf, startRelayedWorld } from './relayed-world.ts'

const world = await startRelayedWorld()
const { network, foreign, first, second, treasury, payer, paid, by } = world
afterAll(() => world.stop())
beforeEach(() => world.calm())

describe('a receipt', () => {
  const changed = async (result: (call: RpcCall, result: unknown) => unknown) => {
    first.mood = { kind: 'change', result }
    return by([first.url]).chain.findTransfer(question(paid))
  }
  const receiptWith = (changes: Record<string, unknown>) => (call: RpcCall, result: unknown) =>
    call.method === 'eth_getTransactionReceipt' ? { ...(result as object), ...changes } : result
  const isExact = (call: RpcCall) => call.method === 'eth_getBlockByNumber' && call.params[0] !== 'finalized'

  test('is pending while its block is not complete', async () => {
    expect(verdict(await changed((call, result) => (isExact(call) ? null : result)))).toBe(
      'pending: unconfirmed',
    )
    expect(verdict(await changed(receiptWith({ blockHash: null, blockNumber: null })))).toBe(
      'pending: unconfirmed',
    )
  })

  test('is pending when its block was replaced by a reorganization', async () => {
    expect(verdict(await changed(receiptWith({ blockHash: toHex(7, { size: 32 }) })))).toBe('pending: reorg')
  })

  test.each([
    { status: undefined },
    { status: '0x2' },
    { logs: undefined },
    { logs: [{}] },
    { blockHash: '0x12' },
  ])('that is malformed (%o) throws instead of a result', async (changes) => {
    await expect(changed(receiptWith(changes))).rejects.toMatchObject(IS_AWAY)
  })

  test('is not final on a chain without a final block', async () => {
    const isFinal = (call: RpcCall) => call.params[0] === 'finalized'
    const { chain } = by([first.url])
    for (const [code, message] of [
      [-39_001, 'Unknown block'] as const,
      [-32_000, 'finalized block not found'] as const,
    ]) {
      first.mood = { kind: 'error', code, message, when: isFinal }
      expect(verdict(await chain.findTransfer(question(paid)))).toBe('ok')
    }
  })
})

test('reads the block time from the block when the log has none', async () => {
  const read = (url: string) => readWhole(by([url]).chain)
  const truth = await read(second.url)
  first.mood = {
    kind: 'change',
    result: (call, result) => {
      if (call.method !== 'eth_getLogs') return result
      return (result as Record<string, unknown>[]).map(({ blockTimestamp: _, ...log }) => log)
    },
  }
  expect(await read(first.url)).toEqual(truth)
  expect(first.methods()).toContain('eth_getBlockByHash')
  expect(truth.incoming).toHaveLength(1)
})

const payouts = (count: number): PayoutRequest[] => Array.from({ length: count }, () => newPayout(1n))
/** Signs payouts and a batch of them at a nonce that is not mined. */
const batchOf = async (sender: PayoutSender, requests: readonly PayoutRequest[], nonce = 600n) => {
  const signed = await Promise.all(requests.map((one) => sender.sign(one, 0)))
  const account = batchesOf(sender).accounts[0] ?? ''
  return batchesOf(sender).sign({ account, nonce, payouts: signed, outbid: undefined })
}

describe('send', () => {
  test('sends to every node and succeeds when one accepts', async () => {
    const { sender } = by([first.url, second.url])
    const batch = await batchOf(sender, payouts(1), 500n)
    const { send } = batchesOf(sender)
    await send(batch)
    for (const relay of [first, second] satisfies NodeRelay[])
      await expect.poll(() => relay.methods().includes('eth_sendRawTransaction')).toBe(true)
    first.mood = { kind: 'answer', status: 500, body: '' }
    await send(batch)
    second.mood = { kind: 'reset' }
    await expect(send(batch)).rejects.toMatchObject(IS_AWAY)
  })

  test('throws `unavailable` with the reason when every node rejects', async () => {
    const { sender } = by([first.url])
    const batch = await batchOf(sender, payouts(1), 501n)
    first.mood = {
      kind: 'error',
      code: -32_000,
      message: 'replacement underpriced',
      when: isOf('eth_sendRawTransaction'),
    }
    await expect(batchesOf(sender).send(batch)).rejects.toMatchObject({ ...IS_AWAY, message: /underpriced/ })
  })
})

describe('the gas limit of a batch', () => {
  const estimated = (gas: number) => {
    first.mood = {
      kind: 'change',
      result: (call, result) => (call.method === 'eth_estimateGas' ? toHex(gas) : result),
    }
    return by([first.url]).sender
  }
  const gasOf = ({ bytes }: { bytes: string }) => parseTransaction(bytes as Hex).gas

  test('follows from the number of payouts where the estimate is lower', async () => {
    expect(gasOf(await batchOf(estimated(60_000), payouts(1)))).toBe(160_000n)
    expect(gasOf(await batchOf(estimated(60_000), payouts(7)))).toBe(760_000n)
  })

  test('does not depend on the estimate of a batch that would revert', async () => {
    first.mood = {
      kind: 'error',
      code: 3,
      message: 'execution reverted',
      when: isOf('eth_estimateGas'),
    }
    expect(gasOf(await batchOf(by([first.url]).sender, payouts(2)))).toBe(260_000n)
  })

  test('is the estimate with a margin where the network bills data in gas, and the cost follows it', async () => {
    const payout = newPayout(4n)
    const cheap = await estimated(60_000).estimateCost(payout)
    const sender = estimated(1_600_000)
    expect(gasOf(await batchOf(sender, [payout]))).toBe(2_400_000n)
    expect((await sender.estimateCost(payout)).native).toBeGreaterThan(cheap.native * 14n)
  })

  test('throws `unavailable` for an estimate above the bound, before anything is signed', async () => {
    const sender = estimated(12_000_000)
    await expect(sender.estimateCost(newPayout(4n))).rejects.toMatchObject(IS_AWAY)
    await expect(batchOf(sender, payouts(1))).rejects.toMatchObject(IS_AWAY)
  })
})

test('a node without the receipt does not make the cost of a batch unknown', async () => {
  await network.mint(treasury.address, 100n)
  const { reference } = await payOut(network, by([second.url]).sender, newPayout(4n), 0n)
  const costBy = (...relays: NodeRelay[]) => by(relays.map(({ url }) => url)).sender.costOf?.(reference)
  const cost = await costBy(second)
  expect(cost).toBeGreaterThan(0n)
  first.mood = {
    kind: 'change',
    result: (call, result) => (call.method === 'eth_getTransactionReceipt' ? null : result),
  }
  expect(await costBy(first, second)).toBe(cost)
  second.mood = { kind: 'reset' }
  await expect(costBy(first, second)).rejects.toMatchObject(IS_AWAY)
})

describe('checkNodes', () => {
  const problem = async (urls: readonly string[], changes: Partial<EvmPayoutSenderSettings> = {}) => {
    try {
      await by(urls, changes).chain.checkNodes()
      return undefined
    } catch (failure) {
      return failure instanceof Error ? failure.message : 'no error at all'
    }
  }
  const host = (url: string) => new URL(url).host

  test('accepts correct nodes', async () => {
    expect(await problem([first.url, second.url])).toBeUndefined()
  })

  test('throws with the name of a node on another chain', async () => {
    expect(await problem([first.url, foreign.url])).toBe(
      `base-mainnet: ${host(foreign.url)} is on chain 31337, not on 8453`,
    )
  })

  test('throws with the name of a node where USDC is missing or has other decimals', async () => {
    expect(await problem([first.url], { usdc: payer.address })).toContain(
      `${host(first.url)} has no contract at ${payer.address}`,
    )
    const isDecimals = (call: RpcCall) => call.method === 'eth_call'
    first.mood = { kind: 'change', result: (call, r) => (isDecimals(call) ? toHex(18, { size: 32 }) : r) }
    expect(await problem([first.url])).toContain(`${host(first.url)} has no token with 6 decimals`)
  })

  test('accepts an unreachable node while another one responds', async () => {
    first.mood = { kind: 'reset' }
    expect(await problem([first.url, second.url])).toBeUndefined()
    expect(await problem([first.url])).toBe('No base-mainnet node can be reached')
  })

  test('rejects invalid settings', () => {
    expect(() => by([])).toThrow('base-mainnet has no node')
    expect(() => by(['no address'])).toThrow('not a valid URL')
    expect(() => by(['https://me:secret@node.example'])).toThrow(
      /^(?!.*secret).*URL of node.example must not contain/,
    )
    expect(() => by([first.url], { treasury: '0x12' })).toThrow('0x12 is not an EVM address')
    expect(() => by([first.url], { confirmations: [] })).toThrow('need a rule that starts at 0')
    expect(() => by([first.url], { confirmations: [{ from: usdc(0n), blocks: 0 }] })).toThrow('at least 1')
  })
})

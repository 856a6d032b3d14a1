import type { EvmPayoutSenderSettings } from '@market/chains/evm/evm-payout-sender'
import { usdc } from '@market/kernel/money'
import { type Hex, parseTransaction, toHex } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readWhole } from './evm-movements.ts'
import { FINALITY, newAccount, question, verdict } from './evm-world.ts'
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

describe('send', () => {
  const order = { payoutId: 'pay_2', to: newAccount().address, amount: usdc(1n) }

  test('sends to every node and succeeds when one accepts', async () => {
    const { sender } = by([first.url, second.url])
    const signed = await sender.sign(order, 500n, [])
    await sender.send(signed)
    for (const relay of [first, second] satisfies NodeRelay[])
      await expect.poll(() => relay.methods().includes('eth_sendRawTransaction')).toBe(true)
    first.mood = { kind: 'answer', status: 500, body: '' }
    await sender.send(signed)
    second.mood = { kind: 'reset' }
    await expect(sender.send(signed)).rejects.toMatchObject(IS_AWAY)
  })

  test('throws `unavailable` with the reason when every node rejects', async () => {
    const { sender } = by([first.url])
    const signed = await sender.sign(order, 501n, [])
    first.mood = {
      kind: 'error',
      code: -32_000,
      message: 'replacement underpriced',
      when: isOf('eth_sendRawTransaction'),
    }
    await expect(sender.send(signed)).rejects.toMatchObject({ ...IS_AWAY, message: /underpriced/ })
  })
})

describe('the gas limit of a payout', () => {
  const order = { payoutId: 'pay_gas', to: newAccount().address, amount: usdc(4n) }
  const estimated = (gas: number) => {
    first.mood = {
      kind: 'change',
      result: (call, result) => (call.method === 'eth_estimateGas' ? toHex(gas) : result),
    }
    return by([first.url]).sender
  }
  const gasOf = ({ bytes }: { bytes: string }) => parseTransaction(bytes as Hex).gas

  test('is 100,000 where a transfer needs less', async () => {
    expect(gasOf(await estimated(60_000).sign(order, 600n, []))).toBe(100_000n)
  })

  test('is the estimate with a margin where the network bills data in gas, and the cost follows it', async () => {
    const cheap = await estimated(60_000).estimateCost(order)
    const sender = estimated(600_000)
    expect(gasOf(await sender.sign(order, 600n, []))).toBe(900_000n)
    expect((await sender.estimateCost(order)).native).toBeGreaterThan(cheap.native * 8n)
  })

  test('throws `unavailable` for an estimate above the bound, before anything is signed', async () => {
    const sender = estimated(10_000_000)
    await expect(sender.estimateCost(order)).rejects.toMatchObject(IS_AWAY)
    await expect(sender.sign(order, 600n, [])).rejects.toMatchObject(IS_AWAY)
  })
})

test('a node without the receipts does not make a paid payout fail', async () => {
  const payee = newAccount().address
  await network.mint(treasury.address, 100n)
  const { sender } = by([first.url, second.url])
  const signed = await sender.sign(
    { payoutId: 'pay_3', to: payee, amount: usdc(4n) },
    (await sender.nonces())?.next ?? 0n,
    [],
  )
  await sender.send(signed)
  await network.mine(FINALITY)
  first.mood = {
    kind: 'change',
    result: (call, result) => (call.method === 'eth_getTransactionReceipt' ? null : result),
  }
  expect(await sender.observe([signed])).toEqual({
    kind: 'final',
    reference: signed.reference,
    cost: expect.any(BigInt),
  })
  second.mood = { kind: 'reset' }
  await expect(sender.observe([signed])).rejects.toMatchObject(IS_AWAY)
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

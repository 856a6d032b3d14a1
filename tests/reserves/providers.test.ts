import { SECOND } from '@market/kernel/clock'
import { recheckTransfers } from '@market/money/payments'
import { payoutMetrics } from '@market/money/payouts'
import { getSolvency } from '@market/money/reserves'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { type Hex, pad, toHex } from 'viem'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { CONFIRMATIONS, FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { type NodeRelay, type RpcCall, relayTo } from '../chains/node-relay.ts'
import { onAnyReversal } from '../support/reversals.ts'
import { NETWORK, openTreasury, type Treasury } from './treasury.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
const other = await fundedPayer(network)
afterAll(() => network.stop())

let first: NodeRelay
let second: NodeRelay
let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  first = await relayTo(network.url)
  second = await relayTo(network.url)
  const rpcUrls = [first.url, second.url]
  treasury = await openTreasury(database.db, network, first.url, { rpcUrls, minProviders: 2 })
  return async () => {
    await Promise.all([first.stop(), second.stop()])
    await database.stop()
  }
})

const host = ({ url }: NodeRelay): string => new URL(url).host

const recheck = async () => {
  treasury.clock.advance(6 * SECOND)
  await treasury.watch()
  return recheckTransfers(treasury.ctx, onAnyReversal())
}

const paidFor = async (purpose: string, due: bigint) => {
  await treasury.payIn(payer, due, { purpose, due })
  await recheck()
}

const guard = async () => (await payoutMetrics(treasury.ctx)).find((one) => one.network === NETWORK)

const change = (result: (call: RpcCall, result: unknown) => unknown): NodeRelay['mood'] => ({
  kind: 'change',
  result,
})

/** The node shows another balance of the treasury. */
const withBalance = (micros: bigint): NodeRelay['mood'] =>
  change(({ method }, result) => (method === 'eth_call' ? pad(toHex(micros), { size: 32 }) : result))

const behindBy = (blocks: bigint): NodeRelay['mood'] =>
  change(({ method }, result) =>
    method === 'eth_blockNumber' ? toHex(BigInt(String(result)) - blocks) : result,
  )

/** A payout that a worker advances. */
const advanced = async (amount: bigint) => {
  const payout = await treasury.requestPayout('order:float', amount, newAccount().address)
  await treasury.advance(payout)
  return treasury.ctx.db
    .selectFrom('payouts')
    .select(['state', 'hold_code', 'hold_detail'])
    .where('id', '=', payout.id)
    .executeTakeFirstOrThrow()
}

describe('reorganization', () => {
  test.each([1, 2, 3, 4, 5])(
    'of %d blocks during an unfinal payment neither closes the network nor publishes a shortfall',
    async (depth) => {
      await paidFor('order:float', 1_000n)
      const reference = await network.transfer(payer, treasury.account.address, 500n)
      await network.mine(Math.max(CONFIRMATIONS, depth) - 1)
      await treasury.claim(reference, 'order:a', 500n)
      await network.reorg(Math.max(CONFIRMATIONS, depth))
      expect(await treasury.takeSnapshot(true)).toMatchObject({
        short: 0n,
        latest: 1_000n,
        balances: { escrow: 1_500n, unfinal: 500n },
      })
      expect(await guard()).toMatchObject({ short: 0n, isOpen: true })
      expect(await getSolvency(treasury.ctx)).toMatchObject([{ newest: { short: 0n } }])
      await network.mine(FINALITY)
      await recheck()
      expect(await treasury.takeSnapshot()).toMatchObject({
        short: 0n,
        balances: { escrow: 1_000n, unfinal: 0n },
      })
    },
  )

  test('money that left is missing at once, or when it is final where new payments hide it', async () => {
    await paidFor('order:float', 1_000n)
    await network.transfer(treasury.account, other.address, 5n)
    expect((await treasury.takeSnapshot()).short).toBe(5n)
    const reference = await network.transfer(payer, treasury.account.address, 500n)
    await network.mine(CONFIRMATIONS - 1)
    await treasury.claim(reference, 'order:a', 500n)
    expect((await treasury.takeSnapshot()).short).toBe(0n)
    await network.mine(FINALITY)
    await recheck()
    expect((await treasury.takeSnapshot()).short).toBe(5n)
  })
})

describe('balance', () => {
  test('one provider shows too little: payouts wait, the hold names both, and no shortfall is published', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    second.mood = withBalance(400n)
    await expect(treasury.takeSnapshot()).rejects.toThrow('disagree about the treasury')
    expect(await guard()).toMatchObject({ short: 0n, isOpen: false })
    expect(await getSolvency(treasury.ctx)).toMatchObject([{ newest: { short: 0n, latest: 1_000n } }])
    const held = await advanced(300n)
    expect(held).toMatchObject({ state: 'held', hold_code: 'providers_disagree' })
    expect(held.hold_detail).toContain(`${host(first)} 0.001 (final 0.001)`)
    expect(held.hold_detail).toContain(`${host(second)} 0.0004 (final 0.0004)`)
    second.mood = { kind: 'pass' }
    await treasury.takeSnapshot()
    expect(await guard()).toMatchObject({ isOpen: true })
  })

  test('one provider shows too much: it neither hides missing money nor lets a payout leave', async () => {
    await paidFor('order:float', 1_000n)
    await network.transfer(treasury.account, other.address, 900n)
    await network.mine(FINALITY)
    second.mood = withBalance(1_000n)
    await expect(treasury.takeSnapshot()).rejects.toThrow('disagree about the treasury')
    expect(await advanced(300n)).toMatchObject({ state: 'held', hold_code: 'providers_disagree' })
    second.mood = { kind: 'pass' }
    expect((await treasury.takeSnapshot()).short).toBe(900n)
  })

  test('authorize: the lower balance of two providers must cover the payout', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    second.mood = withBalance(200n)
    expect(await advanced(300n)).toMatchObject({ state: 'held', hold_code: 'balance_low' })
  })

  test('a provider an hour behind does not count: no snapshot, and payouts wait', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    await network.mine(40)
    second.mood = behindBy(35n)
    await expect(treasury.takeSnapshot()).rejects.toThrow(`${host(second)} is 35 blocks behind`)
    const held = await advanced(300n)
    expect(held).toMatchObject({ state: 'held', hold_code: 'providers_disagree' })
    expect(held.hold_detail).toContain('1 of 2 required providers')
  })

  test('both providers at a final block before a final payment: no snapshot, and no shortfall is published', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    const early = change(({ method, params }, result) => {
      if (method === 'eth_getBlockByNumber' && params[0] === 'finalized')
        return { ...(result as object), number: '0x1' }
      return method === 'eth_call' ? pad('0x00', { size: 32 }) : result
    })
    first.mood = early
    second.mood = early
    await expect(treasury.takeSnapshot()).rejects.toThrow('0 of 2 required providers')
    expect(await getSolvency(treasury.ctx)).toMatchObject([{ newest: { short: 0n } }])
  })

  test('a provider that does not respond: no snapshot, and payouts wait', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    second.mood = { kind: 'reset' }
    await expect(treasury.takeSnapshot()).rejects.toThrow('1 of 2 required providers')
    expect(await advanced(300n)).toMatchObject({ state: 'held', hold_code: 'providers_disagree' })
  })
})

test('a final payment that one provider invented pays nothing out', async () => {
  await paidFor('order:float', 1_000n)
  const real = await network.transfer(payer, treasury.account.address, 5n)
  await network.mine(FINALITY)
  const data = pad(toHex(5_000n), { size: 32 })
  first.mood = change(({ method, params }, result) => {
    if (method !== 'eth_getTransactionReceipt' || params[0] !== real) return result
    const receipt = result as { logs: readonly object[] }
    return { ...receipt, logs: receipt.logs.map((log) => ({ ...log, data })) }
  })
  await treasury.claim(real as Hex, 'order:b', 5_000n)
  await recheck()
  const payout = await treasury.requestPayout('order:b', 5_000n, newAccount().address, true)
  await treasury.takeSnapshot()
  await treasury.advance(payout)
  const row = await treasury.ctx.db
    .selectFrom('payouts')
    .select('hold_code')
    .where('id', '=', payout.id)
    .executeTakeFirstOrThrow()
  expect(row.hold_code).toBe('payment_not_final')
})

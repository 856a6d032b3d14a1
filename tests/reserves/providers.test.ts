import { SECOND } from '@market/kernel/clock'
import { type Disagreement, decideFinality } from '@market/money/follower'
import { recheckTransfers } from '@market/money/payments'
import { payoutMetrics } from '@market/money/payouts'
import { getSolvency } from '@market/reserves/snapshots'
import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { type Hex, pad, toFunctionSelector, toHex } from 'viem'
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

const BALANCE_OF = toFunctionSelector('balanceOf(address)')

/** The node shows another balance of the treasury. */
const withBalance = (micros: bigint): NodeRelay['mood'] =>
  change(({ method, params: [call] }, result) => {
    const isBalance = method === 'eth_call' && (call as { data: string }).data.startsWith(BALANCE_OF)
    return isBalance ? pad(toHex(micros), { size: 32 }) : result
  })

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
      await network.mine(1)
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

  test('payouts wait at once when money left, and a shortfall is published when that is final', async () => {
    await paidFor('order:float', 1_000n)
    await network.transfer(treasury.account, other.address, 5n)
    await expect(treasury.takeSnapshot()).rejects.toThrow('0.000005 USDC left in blocks that are not final')
    expect(await guard()).toMatchObject({ short: 0n, isOpen: false })
    const reference = await network.transfer(payer, treasury.account.address, 500n)
    await network.mine(CONFIRMATIONS - 1)
    await treasury.claim(reference, 'order:a', 500n)
    await expect(treasury.takeSnapshot()).rejects.toThrow('left in blocks that are not final')
    await network.mine(FINALITY)
    await recheck()
    expect((await treasury.takeSnapshot()).short).toBe(5n)
  })
})

/** The providers that disagree about the final blocks, and what the transfers there do not explain. */
const decide = async () => {
  const seen: Pick<Disagreement, 'providers' | 'unexplained'>[] = []
  await decideFinality(treasury.ctx, NETWORK, ({ providers, unexplained }) => {
    seen.push({ providers, unexplained })
  })
  return seen
}

const stateOf = async (reference: string) =>
  (
    await treasury.ctx.db
      .selectFrom('transfers')
      .select('state')
      .where('reference', '=', reference)
      .executeTakeFirstOrThrow()
  ).state

describe('balance', () => {
  test('one provider shows too little: it is reported, nothing becomes final, and no shortfall is published', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    second.mood = withBalance(400n)
    const reference = await network.transfer(payer, treasury.account.address, 7n)
    await network.mine(FINALITY)
    expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, final: 1_000n, latest: 1_007n })
    expect(await decide()).toEqual([{ providers: [host(first), host(second)].toSorted(), unexplained: 0n }])
    expect(await stateOf(reference)).toBe('seen')
    expect(await advanced(500n)).toMatchObject({ state: 'held', hold_code: 'balance_low' })
    second.mood = { kind: 'pass' }
    expect(await decide()).toEqual([])
    expect(await stateOf(reference)).toBe('final')
    expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, final: 1_007n })
  })

  test('one provider shows too much: it neither hides missing money nor lets a payout leave', async () => {
    await paidFor('order:float', 1_000n)
    await network.transfer(treasury.account, other.address, 900n)
    await network.mine(FINALITY)
    second.mood = withBalance(1_000n)
    await expect(treasury.takeSnapshot()).rejects.toThrow('left in blocks that are not final')
    expect(await advanced(300n)).toMatchObject({ state: 'held', hold_code: 'providers_disagree' })
    second.mood = { kind: 'pass' }
    expect((await treasury.takeSnapshot()).short).toBe(900n)
  })

  test('a transfer that both providers leave out is reported at that reading, and nothing becomes final', async () => {
    await paidFor('order:float', 1_000n)
    const hidden = await network.transfer(payer, treasury.account.address, 40n)
    const shown = await network.transfer(payer, treasury.account.address, 7n)
    await network.mine(FINALITY)
    const withoutLog = change(({ method }, result) =>
      method === 'eth_getLogs'
        ? (result as { transactionHash: string }[]).filter((log) => log.transactionHash !== hidden)
        : result,
    )
    first.mood = withoutLog
    second.mood = withoutLog
    await treasury.watch()
    expect(await decide()).toEqual([{ providers: [], unexplained: 40n }])
    expect(await stateOf(shown)).toBe('seen')
    // The market goes on: a payment is found, and waits for finality.
    expect(await treasury.claim(shown, 'order:b', 7n)).toEqual({ isNew: true })
    expect(await stateOf(shown)).toBe('seen')
    first.mood = { kind: 'pass' }
    second.mood = { kind: 'pass' }
    expect(await decide()).toEqual([])
    expect([await stateOf(hidden), await stateOf(shown)]).toEqual(['final', 'final'])
    expect(await treasury.takeSnapshot()).toMatchObject({ short: 0n, final: 1_047n })
  })

  test('authorize: the lower balance of two providers must cover the payout', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    second.mood = withBalance(200n)
    expect(await advanced(300n)).toMatchObject({ state: 'held', hold_code: 'balance_low' })
  })

  test('a provider an hour behind does not count: payouts wait', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    await network.mine(40)
    second.mood = behindBy(35n)
    const held = await advanced(300n)
    expect(held).toMatchObject({ state: 'held', hold_code: 'providers_disagree' })
    expect(held.hold_detail).toContain('1 of 2 required providers')
  })

  test('a provider that does not respond: nothing becomes final, and payouts wait', async () => {
    await paidFor('order:float', 1_000n)
    await treasury.takeSnapshot()
    second.mood = { kind: 'reset' }
    await expect(decide()).rejects.toMatchObject({ kind: 'unavailable' })
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

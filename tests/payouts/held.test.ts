import type { PayoutSender } from '@market/core/ports/payout-sender'
import { DAY, HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { markOf } from '@market/kernel/payout-mark'
import { maintainLedgerPartitions } from '@market/money/ledger'
import {
  advanceDue,
  advancePayout,
  duePayouts,
  type Payout,
  payoutLimitMetrics,
  payoutMetrics,
} from '@market/money/payouts'
import { startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { CAPS, NETWORK, type PayoutLedger, startPayoutLedger } from '../support/payout-ledger.ts'

const chain = await startEvmNetwork({ chainId: 8453 })
afterAll(() => chain.stop())

let ledger: PayoutLedger
beforeEach(async () => {
  ledger = await startPayoutLedger(chain)
  return ledger.stop
})

const stateOf = async (payout: Payout) => {
  const { state, hold_code } = await ledger.rowOf(payout)
  return hold_code === null ? state : `${state}: ${hold_code}`
}

/** The sender, with every question to its nodes counted. */
function counted(sender: PayoutSender): { sender: PayoutSender; calls: () => number } {
  let calls = 0
  const count =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args): Result => {
      calls++
      return call(...args)
    }
  const { rejectionReason, sign, observe, batches } = sender
  if (batches === undefined) throw new Error('there are no gas accounts')
  return {
    calls: () => calls,
    sender: {
      ...sender,
      rejectionReason: count(rejectionReason),
      sign: count(sign),
      observe: count(observe),
      estimateCost: count(sender.estimateCost),
      nativeBalance: count(sender.nativeBalance),
      usdcBalance: count(sender.usdcBalance),
      batches: {
        ...batches,
        failures: count(batches.failures),
        mined: count(batches.mined),
        sign: count(batches.sign),
        send: count(batches.send),
      },
    },
  }
}

describe('held payouts', () => {
  test.each([
    ['payout_cap', { perPayout: usdc(1n) }],
    ['payee_cap', { perPayee: usdc(1n) }],
    ['daily_cap', { perDay: usdc(1n) }],
    ['gas_budget', { gasBudget: { [NETWORK]: 0n } }],
  ])('%s: is decided again without a question to a node', async (code, change) => {
    const { sender, calls } = counted(ledger.sender)
    const app = { ...ledger.app, payoutSenders: { [NETWORK]: sender }, caps: { ...CAPS, ...change } }
    const payout = await ledger.request()
    await advancePayout(app, payout.id)
    expect(await stateOf(payout)).toBe(`held: ${code}`)
    const asked = calls()
    await advancePayout(app, payout.id)
    expect(calls()).toBe(asked)
    await advancePayout({ ...app, caps: CAPS }, payout.id)
    expect(await stateOf(payout)).toBe('signed')
  })

  test('below_minimum: asks no node, is not the oldest under way, and is sent when the minimum is lowered', async () => {
    const { sender, calls } = counted(ledger.sender)
    const { [NETWORK]: base } = ledger.app.chains
    const minimum = (micros: bigint) => ({
      ...ledger.app,
      chains: { [NETWORK]: { ...base, minPayout: usdc(micros) } },
      payoutSenders: { [NETWORK]: sender },
    })
    const small = await ledger.request({ amount: usdc(49_999n) })
    await advancePayout(minimum(50_000n), small.id)
    expect(await stateOf(small)).toBe('held: below_minimum')
    expect((await ledger.rowOf(small)).reason).toContain('0.049999 of 0.05 USDC')
    ledger.ctx.clock.advance(DAY)
    expect(await advancePayout(minimum(50_000n), small.id)).toBe(HOUR)
    expect(calls()).toBe(0)
    const ofNetwork = (one: { readonly network: string }) => one.network === NETWORK
    expect((await payoutLimitMetrics(ledger.app)).find(ofNetwork)?.heldBy).toEqual({ below_minimum: 1 })
    expect((await payoutMetrics(ledger.app)).find(ofNetwork)).toMatchObject({ held: 1, oldestSeconds: 0 })
    const enough = await ledger.request({ amount: usdc(50_000n) })
    await advancePayout(minimum(50_000n), enough.id)
    expect(await stateOf(enough)).toBe('signed')
    await advancePayout(minimum(49_999n), small.id)
    expect(await stateOf(small)).toBe('signed')
  })

  test.each([
    ['payout_cap', 5 * MINUTE],
    ['payee_account_closed', HOUR],
  ])('%s: is tried less often the longer it lasts, at most every %i ms', async (code, longest) => {
    const payout = await ledger.request()
    const held = { state: 'held', hold_code: code, hold_detail: null, reason: code }
    const app = { ...ledger.app, caps: { ...CAPS, perPayout: usdc(1n) } }
    if (code === 'payout_cap') await advancePayout(app, payout.id)
    else await ledger.ctx.db.updateTable('payouts').set(held).execute()
    const closed = {
      ...app,
      caps: CAPS,
      payoutSenders: {
        [NETWORK]: {
          ...ledger.sender,
          estimateCost: async () => ({ native: 1n, createsAccount: true }),
        },
      },
    }
    const next = () => advancePayout(code === 'payout_cap' ? app : closed, payout.id)
    expect(await next()).toBe(30 * SECOND)
    ledger.ctx.clock.advance(4 * MINUTE)
    expect(await next()).toBe(MINUTE)
    ledger.ctx.clock.advance(DAY)
    expect(await next()).toBe(longest)
  })

  test('a live payout is sent while 200 held ones are due, and no node is asked about those', async () => {
    const dust = Array.from({ length: 200 }, () => ledger.request({ amount: usdc(4_000_000n) }))
    await ledger.ctx.db
      .updateTable('payouts')
      .set({ state: 'held', hold_code: 'payout_cap', hold_detail: '3.00 USDC', reason: 'above the cap' })
      .where(
        'id',
        'in',
        (await Promise.all(dust)).map(({ id }) => id),
      )
      .execute()
    const live = await ledger.request({ amount: usdc(1_000_000n) })
    ledger.ctx.clock.advance(30 * SECOND)
    const { sender, calls } = counted(ledger.sender)
    const caps = { ...CAPS, perPayout: usdc(3_000_000n) }
    const app = { ...ledger.app, payoutSenders: { [NETWORK]: sender }, caps }
    // Each held payout is tried once at most before it is the live one's turn.
    for (let round = 0; round < 30 && (await stateOf(live)) !== 'signed'; round++)
      await Promise.all((await duePayouts(app, NETWORK, 8)).map((id) => advanceDue(app, id)))
    expect(await stateOf(live)).toBe('signed')
    expect(calls()).toBeLessThan(20)
  })
})

describe('the budget of native coin', () => {
  const sumCosts = async () => {
    const costs = await ledger.ctx.db.selectFrom('payout_costs').select('native').execute()
    return costs.reduce((sum, { native }) => sum + BigInt(native), 0n)
  }

  test('gas_budget: holds what exceeds it for a day and its hour, and counts the real cost of final payouts', async () => {
    const { native } = await ledger.sender.estimateCost({
      mark: markOf(NETWORK, { id: 'pay_x', markRound: 1 }),
      to: ledger.account.address,
      amount: usdc(1n),
    })
    const caps = { ...CAPS, gasBudget: { [NETWORK]: native * 2n } }
    const advance = ({ id }: Payout) => advancePayout({ ...ledger.app, caps }, id)
    const before = await ledger.sender.nativeBalance()
    const [first, second, third] = [await ledger.request(), await ledger.request(), await ledger.request()]
    for (const payout of [first, second, third]) await advance(payout)
    expect([await stateOf(first), await stateOf(second), await stateOf(third)]).toEqual([
      'signed',
      'signed',
      'held: gas_budget',
    ])
    expect(await payoutLimitMetrics(ledger.ctx)).toContainEqual({
      network: NETWORK,
      nativeSpent: await sumCosts(),
      heldBy: { gas_budget: 1 },
    })
    await ledger.submit()
    await chain.mine(FINALITY)
    await ledger.compare()
    for (const payout of [first, second]) await advance(payout)
    expect([await stateOf(first), await stateOf(second)]).toEqual(['final', 'final'])
    const spent = before - (await ledger.sender.nativeBalance())
    expect(await sumCosts()).toBe(spent)

    const tight = { ...ledger.app, caps: { ...CAPS, gasBudget: { [NETWORK]: spent } } }
    await advancePayout(tight, third.id)
    expect(await stateOf(third)).toBe('held: gas_budget')
    ledger.ctx.clock.advance(DAY + HOUR)
    await maintainLedgerPartitions(ledger.ctx)
    await advancePayout({ ...tight, caps }, third.id)
    expect(await stateOf(third)).toBe('signed')
  })
})

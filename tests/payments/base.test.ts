import { evmChain } from '@market/chains/evm/evm-chain'
import { usdc } from '@market/kernel/money'
import { escrow, payable, post, statementOf } from '@market/money/ledger'
import { claimTransfer, isPaymentFinal, parsePurpose, recheckTransfers } from '@market/money/payments'
import { startEvmNetwork } from '@market/testing/evm-network'
import type { Address, Hex } from 'viem'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  authorizedBy,
  CONFIRMATIONS,
  FINALITY,
  fundedPayer,
  newAccount,
  settingsFor,
} from '../chains/evm-world.ts'
import { type NodeRelay, relayTo } from '../chains/node-relay.ts'
import { onAnyReversal } from '../support/reversals.ts'
import { AGE_MS, atOnce, openPaymentFixture, outcome, type PaymentFixture } from './payment-fixture.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payers = [await fundedPayer(network), await fundedPayer(network)] as const
const [payer, other] = payers
const USED = 'transfer_used'

let treasury: Address
let relay: NodeRelay
let fixture: PaymentFixture
beforeEach(async () => {
  treasury = newAccount().address
  relay = await relayTo(network.url)
  const settings = settingsFor(network, treasury, { rpcUrls: [relay.url], cooldownMs: 0 })
  fixture = await openPaymentFixture(evmChain(settings))
  // What other tests did is final, so that a reorganisation reaches this test's blocks alone.
  await network.mine(FINALITY)
})
afterEach(async () => {
  try {
    await network.mine(CONFIRMATIONS)
    await fixture.watch()
    await fixture.expectExact(await network.balanceOf(treasury))
  } finally {
    await Promise.all([fixture.stop(), relay.stop()])
  }
})
afterAll(() => network.stop())

/** The final chain passes everything that a reorganization removed. */
const recheckFinal = async () => {
  await network.mine(FINALITY)
  return fixture.recheck()
}

const pay = async (amount: bigint, from = payer): Promise<Hex> => {
  const reference = await network.transfer(from, treasury, amount)
  await network.mine(CONFIRMATIONS - 1)
  return reference
}

describe('claimTransfer', () => {
  test('of 100 concurrent claims of one transfer exactly one succeeds', async () => {
    const reference = await pay(1_000n)
    const outcomes = await atOnce(100, (n) =>
      outcome(fixture.claim(reference, `order:${n}`, { due: 1_000n })),
    )
    expect(outcomes.filter((one) => one === USED)).toHaveLength(99)
    const winner = outcomes.findIndex((one) => one !== USED)
    expect(outcomes[winner]).toEqual({ isNew: true })
    expect(await fixture.inEscrow(`order:${winner}`)).toBe(1_000n)
    expect(await fixture.states()).toEqual(new Map([[reference, `seen order:${winner}`]]))
  })

  test('with a concurrent watcher one claim succeeds and suspense is empty afterwards', async () => {
    const reference = await pay(1_000n)
    const outcomes = await atOnce<unknown>(60, (n) =>
      n % 6 === 0 ? fixture.watch() : outcome(fixture.claim(reference, `order:${n}`, { due: 900n })),
    )
    expect(outcomes.filter((one) => one === USED)).toHaveLength(49)
    expect(await fixture.inSuspense(reference)).toBe(0n)
    expect(await fixture.inSurplus(reference)).toBe(100n)
  })

  test('claiming again for the same purpose changes nothing', async () => {
    const reference = await pay(5n)
    const answers = await atOnce(10, () => fixture.claim(reference, 'order:a', { due: 5n }))
    expect(answers.filter((answer) => answer !== 'pending' && answer.isNew)).toHaveLength(1)
    expect(await fixture.claim(reference.toUpperCase().replace('0X', '0x'), 'order:a')).toEqual({
      isNew: false,
    })
    expect(await fixture.inEscrow('order:a')).toBe(5n)
  })

  test('already_paid: a second transfer for a paid purpose stays unclaimed', async () => {
    const [first, second] = [await pay(5n), await pay(6n, other)]
    expect(await fixture.claim(first, 'order:a', { due: 5n })).toEqual({ isNew: true })
    expect(await outcome(fixture.claim(second, 'order:a', { due: 5n }))).toBe('already_paid')
    expect(await fixture.watch()).toBe(1)
    expect(await fixture.inSuspense(second)).toBe(6n)
    expect(await outcome(fixture.claim(second, 'order:a', { due: 5n }))).toBe('already_paid')
    expect(await fixture.claim(second, 'order:b', { due: 6n })).toEqual({ isNew: true })
    expect(await fixture.inSuspense(second)).toBe(0n)
  })

  test('the transaction stays usable after already_paid', async () => {
    const [first, unclaimed, undone] = [await pay(5n), await pay(6n, other), await pay(7n)]
    const bytes = await network.rpc('eth_getRawTransactionByHash', [undone])
    await fixture.claim(undone, 'order:b', { due: 7n })
    await network.reorg(CONFIRMATIONS)
    await fixture.recheck()
    await recheckFinal()
    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    await fixture.claim(first, 'order:a', { due: 5n })
    const before = await fixture.states()
    expect(before.get(undone)).toBe('gone order:b')
    for (const reference of [unclaimed, undone]) {
      const seen = await fixture.findTransfer(reference)
      if (seen === undefined) throw new Error('not seen')
      const claim = { network: fixture.network, seen, purpose: parsePurpose('order:a'), due: usdc(5n) }
      const known = await fixture.ctx.transact(async (tx) => {
        expect(await outcome(claimTransfer(fixture.ctx, tx, claim))).toBe('already_paid')
        return tx.selectFrom('transfers').select('reference').execute()
      })
      expect(known).toHaveLength(before.size)
    }
    expect(await fixture.states()).toEqual(before)
  })

  test('of two concurrent transfers for one purpose one stays unclaimed', async () => {
    const references = [await pay(5n), await pay(5n, other)]
    const outcomes = await Promise.all(
      references.map((reference) => outcome(fixture.claim(reference, 'order:a', { due: 5n }))),
    )
    expect(outcomes).toContain('already_paid')
    expect(outcomes).toContainEqual({ isNew: true })
    expect(await fixture.inEscrow('order:a')).toBe(5n)
    expect(await fixture.watch()).toBe(1)
  })

  test('the amount above what is due is posted to surplus, in the statement of the purpose', async () => {
    const reference = await pay(105n)
    await fixture.claim(reference, 'order:a', { due: 100n })
    expect([await fixture.inEscrow('order:a'), await fixture.inSurplus(reference)]).toEqual([100n, 5n])
    const { journals } = await statementOf(fixture.ctx.db, { subject: 'a' }, { limit: 5 })
    expect(journals.map(({ reason }) => reason)).toEqual(['transfer.claimed'])
  })

  test('underpaid: the message names the amount due, and nothing is claimed', async () => {
    const reference = await pay(99n)
    const rejected = fixture.claim(reference, 'order:a', { due: 100n })
    await expect(rejected).rejects.toMatchObject({ kind: 'invalid', extra: { code: 'underpaid' } })
    await expect(rejected).rejects.toThrow(/0\.0001 USDC/)
    expect((await fixture.states()).size).toBe(0)
    expect(await fixture.claim(reference, 'order:b', { due: 99n })).toEqual({ isNew: true })
  })

  test('a claim whose transaction fails leaves the transfer unclaimed', async () => {
    const reference = await pay(5n)
    const seen = await fixture.findTransfer(reference)
    if (seen === undefined) throw new Error('not seen')
    const broken = fixture.ctx.transact(async (tx) => {
      await claimTransfer(fixture.ctx, tx, {
        network: fixture.network,
        seen,
        purpose: parsePurpose('order:a'),
        due: usdc(5n),
      })
      throw new Error('the command failed')
    })
    await expect(broken).rejects.toThrow('the command failed')
    expect(await fixture.claim(reference, 'order:b', { due: 5n })).toEqual({ isNew: true })
  })
})

describe('unclaimed transfers', () => {
  test('are posted to suspense once by two concurrent watchers, for any page size', async () => {
    const sent: Hex[] = []
    for (let n = 0; n < 12; n++)
      sent.push(await network.transfer(payers[n % 2] ?? payer, treasury, BigInt(n + 1)))
    await network.mine(CONFIRMATIONS)
    await Promise.all([1, 3, 2, 100, 5].map((size) => fixture.watch(size)))
    await fixture.watch(2)
    expect((await fixture.states()).size).toBe(12)
    for (const [n, reference] of sent.entries())
      expect(await fixture.inSuspense(reference)).toBe(BigInt(n + 1))
    expect(await fixture.watch()).toBe(0)
  })

  test('are claimed from suspense', async () => {
    const reference = await pay(10n)
    await fixture.watch()
    expect(await fixture.inSuspense(reference)).toBe(10n)
    expect(await fixture.claim(reference, 'order:late', { due: 7n })).toEqual({ isNew: true })
    expect(await fixture.inSuspense(reference)).toBe(0n)
    expect([await fixture.inEscrow('order:late'), await fixture.inSurplus(reference)]).toEqual([7n, 3n])
    expect(await fixture.watch()).toBe(0)
  })
})

describe('several transfers in one transaction', () => {
  const payTogether = async () => {
    const calls = [
      await authorizedBy(network, payer, treasury, 30n),
      await authorizedBy(network, other, treasury, 12n),
    ]
    const reference = await network.callMany(network.usdc, calls)
    await network.mine(CONFIRMATIONS)
    return reference
  }
  const mine = { due: 25n, payers: [payer.address.toLowerCase()] }

  const others = { due: 12n, payers: [other.address.toLowerCase()] }

  test.each(['before', 'after'])(
    'each transfer pays for its own purpose when claimed %s the watcher came',
    async (when) => {
      const reference = await payTogether()
      if (when === 'after') expect(await fixture.watch()).toBe(2)
      expect(await fixture.claim(reference, 'order:a', mine)).toEqual({ isNew: true })
      expect(await fixture.claim(reference, 'order:b', others)).toEqual({ isNew: true })
      // Read again from the start, as after a deep reorganisation: nothing is counted twice.
      for (const pageSize of [100, 1]) {
        await fixture.ctx.db.deleteFrom('followed_networks').execute()
        expect(await fixture.watch(pageSize)).toBe(0)
      }
      expect([await fixture.inEscrow('order:a'), await fixture.inSurplus(reference)]).toEqual([25n, 5n])
      expect([await fixture.inEscrow('order:b'), await fixture.inSurplus(`${reference}.1`)]).toEqual([
        12n,
        0n,
      ])
      for (const claim of [mine, others])
        expect(await outcome(fixture.claim(reference, 'order:c', claim))).toBe(USED)
      await recheckFinal()
      for (const purpose of ['order:a', 'order:b'])
        expect(await isPaymentFinal(fixture.ctx.db, parsePurpose(purpose))).toBe(true)
      await fixture.expectExact(42n)
    },
  )

  test('two transfers of one wallet pay for two purposes', async () => {
    const calls = [
      await authorizedBy(network, payer, treasury, 30n),
      await authorizedBy(network, payer, treasury, 30n),
    ]
    const reference = await network.callMany(network.usdc, calls)
    await network.mine(CONFIRMATIONS)
    for (const purpose of ['order:a', 'order:b'])
      expect(await fixture.claim(reference, purpose, mine)).toEqual({ isNew: true })
    expect(await outcome(fixture.claim(reference, 'order:c', mine))).toBe(USED)
    await fixture.watch()
    await fixture.expectExact(60n)
  })

  test('a transfer without a purpose stays in suspense beside one that pays', async () => {
    const reference = await payTogether()
    await fixture.watch()
    await fixture.claim(reference, 'order:a', mine)
    await fixture.recheck(AGE_MS)
    await fixture.recheck(25 * 3_600_000)
    expect((await fixture.states()).get(`${reference}.1`)).toBe('seen')
    await recheckFinal()
    expect((await fixture.states()).get(`${reference}.1`)).toBe('final')
    expect(await fixture.inSuspense(`${reference}.1`)).toBe(12n)
    expect(await fixture.inSuspense(reference)).toBe(0n)
    expect(await fixture.recheck()).toBe(0)
  })

  test('a reorganization reverses every transfer of the transaction', async () => {
    const reference = await payTogether()
    await fixture.claim(reference, 'order:a', mine)
    await fixture.watch()
    await network.reorg(CONFIRMATIONS + 1)
    await fixture.recheck()
    await recheckFinal()
    expect(fixture.gone).toMatchObject([{ reference, index: 0, purpose: parsePurpose('order:a') }])
    expect(await fixture.inSuspense(`${reference}.1`)).toBe(0n)
    await fixture.expectExact(0n)
  })
})

/** A node that answers, and has never heard of any transaction. */
const blind: NodeRelay['mood'] = {
  kind: 'change',
  result: ({ method }, result) => {
    if (method === 'eth_getLogs') return []
    return /Transaction/.test(method) ? null : result
  },
}

describe('recheckTransfers', () => {
  test('claimed and unclaimed transfers become final with the chain', async () => {
    const [claimed, strange] = [await pay(5n), await pay(6n, other)]
    await fixture.claim(claimed, 'order:a', { due: 5n })
    await fixture.watch()
    expect(await isPaymentFinal(fixture.ctx.db, parsePurpose('order:a'))).toBe(false)
    await fixture.recheck()
    expect(await isPaymentFinal(fixture.ctx.db, parsePurpose('order:a'))).toBe(false)
    await network.mine(FINALITY)
    // None of them is checked by itself.
    expect(await fixture.recheck()).toBe(0)
    expect(await isPaymentFinal(fixture.ctx.db, parsePurpose('order:a'))).toBe(true)
    expect((await fixture.states()).get(strange)).toBe('final')
    expect(await fixture.recheck()).toBe(0)
  })

  test('many unclaimed transfers do not delay payments, and payments do not delay them', async () => {
    const sendMany = async (count: number, from: typeof payer): Promise<Hex[]> => {
      await network.automine(false)
      const sent: Hex[] = []
      for (let n = 0; n < count; n++) sent.push(await network.transfer(from, treasury, 1n))
      await network.automine(true)
      await network.mine(CONFIRMATIONS)
      return sent
    }
    await sendMany(60, other)
    expect(await fixture.watch()).toBe(60)
    fixture.clock.advance(1_000)
    const paid = await sendMany(45, payer)
    for (const [n, reference] of paid.entries()) await fixture.claim(reference, `order:${n}`)
    await network.mine(FINALITY)
    await fixture.ctx.db.deleteFrom('followed_networks').execute()
    const recheck = async () => {
      await fixture.recheckAlone()
      const final = [...(await fixture.states()).values()].filter((state) => state.startsWith('final'))
      const unclaimed = final.filter((state) => state === 'final').length
      return { claimed: final.length - unclaimed, unclaimed }
    }
    expect(await recheck()).toEqual({ claimed: 40, unclaimed: 10 })
    expect(await recheck()).toEqual({ claimed: 45, unclaimed: 55 })
    expect(await recheck()).toEqual({ claimed: 45, unclaimed: 60 })
  })

  test('a dropped payment is reversed once the final chain is past its block, and can be claimed again', async () => {
    const reference = await pay(7n)
    const bytes = await network.rpc('eth_getRawTransactionByHash', [reference])
    await fixture.claim(reference, 'order:a', { due: 5n })
    await network.reorg(CONFIRMATIONS)
    await fixture.recheck()
    await fixture.recheck(25 * 3_600_000)
    expect(fixture.gone).toEqual([])
    expect(await fixture.inEscrow('order:a')).toBe(5n)
    await network.mine(FINALITY)
    await Promise.all([fixture.recheck(AGE_MS), fixture.recheck(AGE_MS)])
    expect(fixture.gone).toMatchObject([{ reference, purpose: parsePurpose('order:a'), amount: 7n, due: 5n }])
    expect([await fixture.inEscrow('order:a'), await fixture.inSurplus(reference)]).toEqual([0n, 0n])
    expect((await fixture.states()).get(reference)).toBe('gone order:a')
    expect(await fixture.claim(reference, 'order:a')).toBe('pending')

    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    expect(await fixture.claim(reference, 'order:b', { due: 6n })).toEqual({ isNew: true })
    expect([await fixture.inEscrow('order:b'), await fixture.inSurplus(reference)]).toEqual([6n, 1n])
  })

  test('a transfer included again in time is not reversed; included later it is in suspense', async () => {
    const [soon, late] = [await network.transfer(payer, treasury, 7n), await pay(9n, other)]
    const bytes = async (hash: Hex) => network.rpc('eth_getRawTransactionByHash', [hash])
    const [soonBytes, lateBytes] = [await bytes(soon), await bytes(late)]
    await fixture.claim(soon, 'order:a', { due: 7n })
    await fixture.claim(late, 'order:b', { due: 9n })
    await network.mine(1)
    await fixture.watch()
    await network.reorg(CONFIRMATIONS + 2)
    await fixture.recheck()
    await network.rpc('eth_sendRawTransaction', [soonBytes])
    await recheckFinal()
    expect(fixture.gone.map((transfer) => transfer.reference)).toEqual([late])
    expect(await fixture.inEscrow('order:a')).toBe(7n)
    await network.rpc('eth_sendRawTransaction', [lateBytes])
    await network.mine(CONFIRMATIONS)
    expect(await fixture.watch()).toBe(1)
    expect(await fixture.inSuspense(late)).toBe(9n)
    await network.mine(FINALITY)
    await fixture.recheck()
    expect(await fixture.states()).toEqual(
      new Map([
        [soon, 'final order:a'],
        [late, 'final'],
      ]),
    )
  })

  test('when another transfer paid the purpose in between, the returning one stays unclaimed', async () => {
    const first = await pay(5n)
    const bytes = await network.rpc('eth_getRawTransactionByHash', [first])
    await fixture.claim(first, 'order:a', { due: 5n })
    await network.reorg(CONFIRMATIONS)
    await fixture.recheck()
    await recheckFinal()
    const second = await pay(5n, other)
    expect(await fixture.claim(second, 'order:a', { due: 5n })).toEqual({ isNew: true })
    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    expect(await outcome(fixture.claim(first, 'order:a', { due: 5n }))).toBe('already_paid')
    await fixture.watch()
    expect(await fixture.inSuspense(first)).toBe(5n)
    expect(await fixture.inEscrow('order:a')).toBe(5n)
  })

  test('the reversal fails as a whole unless the handler returns the money to escrow', async () => {
    const [spent, idle] = [await pay(5n), await pay(6n, other)]
    await fixture.claim(spent, 'order:a', { due: 5n })
    await fixture.claim(idle, 'order:b', { due: 6n })
    const escrowAccount = escrow(fixture.network, 'order:a')
    const owed = payable(fixture.network, 'pay_a')
    const journal = { reason: 'test.moved', subject: 'order:a', network: fixture.network }
    const move = (key: string, from: typeof escrowAccount, to: typeof escrowAccount) => ({
      ...journal,
      key,
      moves: [{ from, to, amount: usdc(5n) }],
    })
    await fixture.ctx.transact((tx) => post(fixture.ctx, tx, move('earned:a', escrowAccount, owed)))
    await network.reorg(CONFIRMATIONS * 2)
    await fixture.recheck()
    // The handler does not return the money: this reversal fails and is reported, and the other one succeeds.
    await expect(recheckFinal()).rejects.toThrow(AggregateError)
    expect((await fixture.states()).get(spent)).toBe('seen order:a')
    expect((await fixture.states()).get(idle)).toBe('gone order:b')
    fixture.clock.advance(6_000)
    await recheckTransfers(
      fixture.ctx,
      onAnyReversal(async (tx) => {
        await post(fixture.ctx, tx, move('taken back:a', owed, escrowAccount))
      }),
    )
    expect((await fixture.states()).get(spent)).toBe('gone order:a')
  })

  test('a transfer that the node no longer shows stays claimed for any time and is final when it shows it again', async () => {
    const reference = await pay(5n)
    await fixture.claim(reference, 'order:a', { due: 5n })
    relay.mood = blind
    await network.mine(FINALITY)
    for (const afterMs of [AGE_MS, 25 * 3_600_000]) await fixture.recheck(afterMs)
    expect(fixture.gone).toEqual([])
    expect((await fixture.states()).get(reference)).toBe('seen order:a')
    relay.mood = { kind: 'pass' }
    await fixture.recheck()
    expect((await fixture.states()).get(reference)).toBe('final order:a')
    expect(await fixture.inEscrow('order:a')).toBe(5n)
  })

  test('an unavailable chain changes nothing for any time', async () => {
    const reference = await pay(5n)
    await fixture.claim(reference, 'order:a', { due: 5n })
    const before = await fixture.states()
    relay.mood = { kind: 'reset' }
    for (const read of [() => fixture.recheck(AGE_MS), () => fixture.recheck(AGE_MS), () => fixture.watch()])
      await expect(read()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await outcome(fixture.claim(reference, 'order:b'))).toBe('unavailable')
    expect(await fixture.states()).toEqual(before)
    // A node that comes back knowing little is not believed at once either.
    relay.mood = blind
    await fixture.recheck(AGE_MS)
    relay.mood = { kind: 'pass' }
    await fixture.recheck(AGE_MS)
    expect(fixture.gone).toEqual([])
    expect(await fixture.states()).toEqual(before)
  })
})

import { evmChain } from '@market/chains/evm/evm-chain'
import { usdc } from '@market/kernel/money'
import { escrow, payable, post, statementOf, surplus, world } from '@market/money/ledger'
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
import { AGE_MS, atOnce, openTill, outcome, type Till } from './till.ts'

const network = await startEvmNetwork({ chainId: 8453 })
const payers = [await fundedPayer(network), await fundedPayer(network)] as const
const [payer, other] = payers
const USED = 'transfer_used'

let treasury: Address
let relay: NodeRelay
let till: Till
beforeEach(async () => {
  treasury = newAccount().address
  relay = await relayTo(network.url)
  const settings = settingsFor(network, treasury, { rpcUrls: [relay.url], cooldownMs: 0 })
  till = await openTill(evmChain(settings))
  // What other tests did is final, so that a reorganisation reaches this test's blocks alone.
  await network.mine(FINALITY)
})
afterEach(async () => {
  try {
    await network.mine(CONFIRMATIONS)
    await till.watch()
    await till.expectExact(await network.balanceOf(treasury))
  } finally {
    await Promise.all([till.stop(), relay.stop()])
  }
})
afterAll(() => network.stop())

const pay = async (amount: bigint, from = payer): Promise<Hex> => {
  const reference = await network.transfer(from, treasury, amount)
  await network.mine(CONFIRMATIONS - 1)
  return reference
}

describe('claimTransfer', () => {
  test('of 100 concurrent claims of one transfer exactly one succeeds', async () => {
    const reference = await pay(1_000n)
    const outcomes = await atOnce(100, (n) => outcome(till.claim(reference, `order:${n}`, { due: 1_000n })))
    expect(outcomes.filter((one) => one === USED)).toHaveLength(99)
    const winner = outcomes.findIndex((one) => one !== USED)
    expect(outcomes[winner]).toEqual({ isNew: true })
    expect(await till.inEscrow(`order:${winner}`)).toBe(1_000n)
    expect(await till.states()).toEqual(new Map([[reference, `seen order:${winner}`]]))
  })

  test('with a concurrent watcher one claim succeeds and suspense is empty afterwards', async () => {
    const reference = await pay(1_000n)
    const outcomes = await atOnce<unknown>(60, (n) =>
      n % 6 === 0 ? till.watch() : outcome(till.claim(reference, `order:${n}`, { due: 900n })),
    )
    expect(outcomes.filter((one) => one === USED)).toHaveLength(49)
    expect(await till.inSuspense(reference)).toBe(0n)
    expect(await till.inSurplus(reference)).toBe(100n)
  })

  test('claiming again for the same purpose changes nothing', async () => {
    const reference = await pay(5n)
    const answers = await atOnce(10, () => till.claim(reference, 'order:a', { due: 5n }))
    expect(answers.filter((answer) => answer !== 'pending' && answer.isNew)).toHaveLength(1)
    expect(await till.claim(reference.toUpperCase().replace('0X', '0x'), 'order:a')).toEqual({ isNew: false })
    expect(await till.inEscrow('order:a')).toBe(5n)
  })

  test('already_paid: a second transfer for a paid purpose stays unclaimed', async () => {
    const [first, second] = [await pay(5n), await pay(6n, other)]
    expect(await till.claim(first, 'order:a', { due: 5n })).toEqual({ isNew: true })
    expect(await outcome(till.claim(second, 'order:a', { due: 5n }))).toBe('already_paid')
    expect(await till.watch()).toBe(1)
    expect(await till.inSuspense(second)).toBe(6n)
    expect(await outcome(till.claim(second, 'order:a', { due: 5n }))).toBe('already_paid')
    expect(await till.claim(second, 'order:b', { due: 6n })).toEqual({ isNew: true })
    expect(await till.inSuspense(second)).toBe(0n)
  })

  test('the transaction stays usable after already_paid', async () => {
    const [first, unclaimed, undone] = [await pay(5n), await pay(6n, other), await pay(7n)]
    const bytes = await network.rpc('eth_getRawTransactionByHash', [undone])
    await till.claim(undone, 'order:b', { due: 7n })
    await network.reorg(CONFIRMATIONS)
    await till.recheck()
    await till.recheck(AGE_MS)
    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    await till.claim(first, 'order:a', { due: 5n })
    const before = await till.states()
    expect(before.get(undone)).toBe('gone order:b')
    for (const reference of [unclaimed, undone]) {
      const seen = await till.look(reference)
      if (seen === undefined) throw new Error('not seen')
      const claim = { network: till.network, seen, purpose: parsePurpose('order:a'), due: usdc(5n) }
      const known = await till.ctx.transact(async (tx) => {
        expect(await outcome(claimTransfer(till.ctx, tx, claim))).toBe('already_paid')
        return tx.selectFrom('transfers').select('reference').execute()
      })
      expect(known).toHaveLength(before.size)
    }
    expect(await till.states()).toEqual(before)
  })

  test('of two concurrent transfers for one purpose one stays unclaimed', async () => {
    const references = [await pay(5n), await pay(5n, other)]
    const outcomes = await Promise.all(
      references.map((reference) => outcome(till.claim(reference, 'order:a', { due: 5n }))),
    )
    expect(outcomes).toContain('already_paid')
    expect(outcomes).toContainEqual({ isNew: true })
    expect(await till.inEscrow('order:a')).toBe(5n)
    expect(await till.watch()).toBe(1)
  })

  test('the amount above what is due is posted to surplus, in the statement of the purpose', async () => {
    const reference = await pay(105n)
    await till.claim(reference, 'order:a', { due: 100n })
    expect([await till.inEscrow('order:a'), await till.inSurplus(reference)]).toEqual([100n, 5n])
    const { journals } = await statementOf(till.ctx.db, { subject: 'a' }, { limit: 5 })
    expect(journals.map(({ reason }) => reason)).toEqual(['transfer.claimed'])
  })

  test('underpaid: the message names the amount due, and nothing is claimed', async () => {
    const reference = await pay(99n)
    const rejected = till.claim(reference, 'order:a', { due: 100n })
    await expect(rejected).rejects.toMatchObject({ kind: 'invalid', extra: { code: 'underpaid' } })
    await expect(rejected).rejects.toThrow(/0\.0001 USDC/)
    expect((await till.states()).size).toBe(0)
    expect(await till.claim(reference, 'order:b', { due: 99n })).toEqual({ isNew: true })
  })

  test('a claim whose transaction fails leaves the transfer unclaimed', async () => {
    const reference = await pay(5n)
    const seen = await till.look(reference)
    if (seen === undefined) throw new Error('not seen')
    const broken = till.ctx.transact(async (tx) => {
      await claimTransfer(till.ctx, tx, {
        network: till.network,
        seen,
        purpose: parsePurpose('order:a'),
        due: usdc(5n),
      })
      throw new Error('the command failed')
    })
    await expect(broken).rejects.toThrow('the command failed')
    expect(await till.claim(reference, 'order:b', { due: 5n })).toEqual({ isNew: true })
  })
})

describe('unclaimed transfers', () => {
  test('are posted to suspense once by two concurrent watchers, for any page size', async () => {
    const sent: Hex[] = []
    for (let n = 0; n < 12; n++)
      sent.push(await network.transfer(payers[n % 2] ?? payer, treasury, BigInt(n + 1)))
    await network.mine(CONFIRMATIONS)
    const watches = [1, 3, 2, 100, 5].map((size) => till.watch(size))
    const found = (await Promise.all(watches)).reduce((sum, n) => sum + n, 0) + (await till.watch(2))
    expect(found).toBe(12)
    for (const [n, reference] of sent.entries()) expect(await till.inSuspense(reference)).toBe(BigInt(n + 1))
    expect(await till.watch()).toBe(0)
  })

  test('are claimed from suspense', async () => {
    const reference = await pay(10n)
    await till.watch()
    expect(await till.inSuspense(reference)).toBe(10n)
    expect(await till.claim(reference, 'order:late', { due: 7n })).toEqual({ isNew: true })
    expect(await till.inSuspense(reference)).toBe(0n)
    expect([await till.inEscrow('order:late'), await till.inSurplus(reference)]).toEqual([7n, 3n])
    expect(await till.watch()).toBe(0)
  })
})

describe('several payers in one transaction', () => {
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

  test.each(['before', 'after'])(
    'a part claimed %s the watcher came leaves the rest in suspense',
    async (when) => {
      const reference = await payTogether()
      if (when === 'after') expect(await till.watch()).toBe(1)
      expect(await till.claim(reference, 'order:a', mine)).toEqual({ isNew: true })
      expect(await till.watch()).toBe(0)
      expect([await till.inEscrow('order:a'), await till.inSurplus(reference)]).toEqual([25n, 5n])
      expect(await till.inSuspense(reference)).toBe(12n)
      // Read again from the start, as after a deep reorganisation: nothing is counted twice.
      await till.ctx.db.deleteFrom('treasury_positions').execute()
      expect(await till.watch(1)).toBe(0)
      expect(await till.inSuspense(reference)).toBe(12n)
      expect(await outcome(till.claim(reference, 'order:b', { payers: [other.address] }))).toBe(USED)
      await network.mine(FINALITY)
      await till.recheck()
      expect(await isPaymentFinal(till.ctx.db, parsePurpose('order:a'))).toBe(true)
    },
  )

  test('a part whose journal has the old subject, the whole purpose, is counted once', async () => {
    const reference = await payTogether()
    const seen = await till.look(reference, mine)
    if (seen === undefined) throw new Error('not seen')
    const now = till.clock.now()
    await till.ctx.db
      .insertInto('transfers')
      .values({
        ...{ network: till.network, reference, purpose: 'order:old', payer: seen.payer, state: 'seen' },
        ...{ amount_micros: 30n, due_micros: 25n, happened_at: seen.at, checked_at: now, created_at: now },
        ...{ block_height: seen.block.height, block_hash: seen.block.hash },
      })
      .execute()
    const from = world(till.network)
    await till.ctx.transact((tx) =>
      post(till.ctx, tx, {
        key: `transfer.claimed:${till.network}:${reference}:${now.getTime()}`,
        reason: 'transfer.claimed',
        subject: 'order:old',
        network: till.network,
        moves: [
          { from, to: escrow(till.network, 'order:old'), amount: usdc(25n) },
          { from, to: surplus(till.network, reference), amount: usdc(5n) },
        ],
      }),
    )
    await till.watch()
    expect(await till.inSuspense(reference)).toBe(12n)
  })

  test('unclaimed parts stay in suspense and become final after a day', async () => {
    const reference = await payTogether()
    await till.watch()
    await till.recheck(AGE_MS)
    await till.recheck(AGE_MS)
    expect(await till.inSuspense(reference)).toBe(42n)
    await till.recheck(25 * 3_600_000)
    expect(await till.recheck()).toBe(0)
  })

  test('a reorganisation reverses the unclaimed rest together with the claim', async () => {
    const reference = await payTogether()
    await till.claim(reference, 'order:a', mine)
    await till.watch()
    await network.reorg(CONFIRMATIONS + 1)
    await till.recheck()
    await till.recheck(AGE_MS)
    expect(till.gone).toMatchObject([{ reference, purpose: parsePurpose('order:a') }])
    expect(await till.inSuspense(reference)).toBe(0n)
  })
})

/** A node that answers, and has never heard of any transaction. */
const blind: NodeRelay['mood'] = {
  kind: 'change',
  result: ({ method }, result) => (/Transaction/.test(method) ? null : result),
}

describe('recheckTransfers', () => {
  test('claimed and unclaimed transfers become final with the chain', async () => {
    const [claimed, strange] = [await pay(5n), await pay(6n, other)]
    await till.claim(claimed, 'order:a', { due: 5n })
    await till.watch()
    expect(await isPaymentFinal(till.ctx.db, parsePurpose('order:a'))).toBe(false)
    expect(await till.recheck()).toBe(2)
    expect(await isPaymentFinal(till.ctx.db, parsePurpose('order:a'))).toBe(false)
    await network.mine(FINALITY)
    // Only after a while is it looked at again.
    expect(await till.recheck(1_000)).toBe(0)
    expect(await till.recheck()).toBe(2)
    expect(await isPaymentFinal(till.ctx.db, parsePurpose('order:a'))).toBe(true)
    expect((await till.states()).get(strange)).toBe('final')
    expect(await till.recheck()).toBe(0)
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
    expect(await till.watch()).toBe(60)
    till.clock.advance(1_000)
    const paid = await sendMany(45, payer)
    for (const [n, reference] of paid.entries()) await till.claim(reference, `order:${n}`)
    await network.mine(FINALITY)
    const recheck = async () => {
      await till.recheck()
      const final = [...(await till.states()).values()].filter((state) => state.startsWith('final'))
      const unclaimed = final.filter((state) => state === 'final').length
      return { claimed: final.length - unclaimed, unclaimed }
    }
    expect(await recheck()).toEqual({ claimed: 40, unclaimed: 10 })
    expect(await recheck()).toEqual({ claimed: 45, unclaimed: 55 })
    expect(await recheck()).toEqual({ claimed: 45, unclaimed: 60 })
  })

  test('a dropped payment is reversed once after ten minutes and can be claimed again', async () => {
    const reference = await pay(7n)
    const bytes = await network.rpc('eth_getRawTransactionByHash', [reference])
    await till.claim(reference, 'order:a', { due: 5n })
    await network.reorg(CONFIRMATIONS)
    await till.recheck()
    await till.recheck(AGE_MS / 2)
    expect(till.gone).toEqual([])
    expect(await till.inEscrow('order:a')).toBe(5n)
    await Promise.all([till.recheck(AGE_MS), till.recheck(AGE_MS)])
    expect(till.gone).toMatchObject([{ reference, purpose: parsePurpose('order:a'), amount: 7n, due: 5n }])
    expect([await till.inEscrow('order:a'), await till.inSurplus(reference)]).toEqual([0n, 0n])
    expect((await till.states()).get(reference)).toBe('gone order:a')
    expect(await till.claim(reference, 'order:a')).toBe('pending')

    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    expect(await till.claim(reference, 'order:b', { due: 6n })).toEqual({ isNew: true })
    expect([await till.inEscrow('order:b'), await till.inSurplus(reference)]).toEqual([6n, 1n])
  })

  test('a transfer included again in time is not reversed; included later it is in suspense', async () => {
    const [soon, late] = [await network.transfer(payer, treasury, 7n), await pay(9n, other)]
    const bytes = async (hash: Hex) => network.rpc('eth_getRawTransactionByHash', [hash])
    const [soonBytes, lateBytes] = [await bytes(soon), await bytes(late)]
    await till.claim(soon, 'order:a', { due: 7n })
    await till.claim(late, 'order:b', { due: 9n })
    await network.mine(1)
    await till.watch()
    await network.reorg(CONFIRMATIONS + 2)
    await till.recheck()
    await network.rpc('eth_sendRawTransaction', [soonBytes])
    await network.mine(CONFIRMATIONS)
    await till.recheck(AGE_MS)
    expect(till.gone.map((transfer) => transfer.reference)).toEqual([late])
    expect(await till.inEscrow('order:a')).toBe(7n)
    await network.rpc('eth_sendRawTransaction', [lateBytes])
    await network.mine(CONFIRMATIONS)
    expect(await till.watch()).toBe(1)
    expect(await till.inSuspense(late)).toBe(9n)
    await network.mine(FINALITY)
    await till.recheck()
    expect(await till.states()).toEqual(
      new Map([
        [soon, 'final order:a'],
        [late, 'final'],
      ]),
    )
  })

  test('when another transfer paid the purpose in between, the returning one stays unclaimed', async () => {
    const first = await pay(5n)
    const bytes = await network.rpc('eth_getRawTransactionByHash', [first])
    await till.claim(first, 'order:a', { due: 5n })
    await network.reorg(CONFIRMATIONS)
    await till.recheck()
    await till.recheck(AGE_MS)
    const second = await pay(5n, other)
    expect(await till.claim(second, 'order:a', { due: 5n })).toEqual({ isNew: true })
    await network.rpc('eth_sendRawTransaction', [bytes])
    await network.mine(CONFIRMATIONS)
    expect(await outcome(till.claim(first, 'order:a', { due: 5n }))).toBe('already_paid')
    await till.watch()
    expect(await till.inSuspense(first)).toBe(5n)
    expect(await till.inEscrow('order:a')).toBe(5n)
  })

  test('the reversal fails as a whole unless the handler returns the money to escrow', async () => {
    const [spent, idle] = [await pay(5n), await pay(6n, other)]
    await till.claim(spent, 'order:a', { due: 5n })
    await till.claim(idle, 'order:b', { due: 6n })
    const pot = escrow(till.network, 'order:a')
    const owed = payable(till.network, 'pay_a')
    const journal = { reason: 'test.moved', subject: 'order:a', network: till.network }
    const move = (key: string, from: typeof pot, to: typeof pot) => ({
      ...journal,
      key,
      moves: [{ from, to, amount: usdc(5n) }],
    })
    await till.ctx.transact((tx) => post(till.ctx, tx, move('earned:a', pot, owed)))
    await network.reorg(CONFIRMATIONS * 2)
    await till.recheck()
    // Nobody moves it back: this one stays as it is, is told of, and does not keep the other from being undone.
    await expect(till.recheck(AGE_MS)).rejects.toThrow(AggregateError)
    expect((await till.states()).get(spent)).toBe('seen order:a')
    expect((await till.states()).get(idle)).toBe('gone order:b')
    till.clock.advance(6_000)
    await recheckTransfers(
      till.ctx,
      onAnyReversal(async (tx) => {
        await post(till.ctx, tx, move('taken back:a', owed, pot))
      }),
    )
    expect((await till.states()).get(spent)).toBe('gone order:a')
  })

  test('a transfer that nodes did not show for too long can be claimed again', async () => {
    const reference = await pay(5n)
    await till.claim(reference, 'order:a', { due: 5n })
    relay.mood = blind
    await till.recheck()
    await till.recheck(AGE_MS)
    expect(till.gone).toHaveLength(1)
    relay.mood = { kind: 'pass' }
    expect(await till.claim(reference, 'order:a', { due: 5n })).toEqual({ isNew: true })
    expect(await till.inEscrow('order:a')).toBe(5n)
  })

  test('an unavailable chain changes nothing for any time', async () => {
    const reference = await pay(5n)
    await till.claim(reference, 'order:a', { due: 5n })
    const before = await till.states()
    relay.mood = { kind: 'reset' }
    for (let n = 0; n < 3; n++) await expect(till.recheck(AGE_MS)).rejects.toThrow(AggregateError)
    await expect(till.watch()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(await outcome(till.claim(reference, 'order:b'))).toBe('unavailable')
    expect(await till.states()).toEqual(before)
    // A node that comes back knowing little is not believed at once either.
    relay.mood = blind
    await till.recheck(AGE_MS)
    relay.mood = { kind: 'pass' }
    await till.recheck(AGE_MS)
    expect(till.gone).toEqual([])
    expect(await till.states()).toEqual(before)
  })
})

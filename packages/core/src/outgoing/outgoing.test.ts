import { DAY, earlier, later, MINUTE } from '@market/kernel/clock'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import type { SignedTransfer } from '../ports/payout-sender.ts'
import type { ExpiringRail, NonceRail } from '../ports/transactions.ts'
import type { Action, Place, Rules } from './action.ts'
import { advance } from './advance.ts'
import { findAttempts } from './store.ts'

const WALLET: Action = { id: 'wop_1_00000000000000001', kind: 'wallet', account: 'W'.repeat(32) }
const VENUE: Action = { id: 'emv_1_00000000000000001:deposit', kind: 'venue', account: `0x${'b'.repeat(40)}` }

let ctx: MarketContext
let sent: string[]
beforeEach(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  sent = []
  return database.stop
})

const send = async ({ reference }: SignedTransfer) => {
  sent.push(reference)
}

/** A network on which nothing of an earlier epoch can be executed any more. */
const solana: ExpiringRail = {
  lock: 'expiry',
  network: 'solana-mainnet',
  send,
  observe: async () => ({ kind: 'expired' }),
  finalHeight: async () => 2n,
  horizon: async () => 1n,
  find: async () => undefined,
}
const evm: NonceRail = {
  lock: 'nonce',
  network: 'base-mainnet',
  send,
  observe: async () => ({ kind: 'unknown' }),
  counts: async () => ({ final: 0n, mined: 0n, height: 1n }),
  sentBetween: async () => [],
}

const signed = ({ n, nonce }: Place, who: string): SignedTransfer => ({
  reference: `${who}${n}`,
  bytes: 'bytes',
  nonce,
  lastValidHeight: nonce === null ? 10n : null,
  maxFeePerGas: null,
  maxPriorityFeePerGas: null,
})
const rules = (who = 'a', before: () => Promise<unknown> = async () => {}): Rules<string> => ({
  isStopped: async () => false,
  maxAttempts: 2,
  async sign(place) {
    await before()
    return { transaction: signed(place, who), authorize: async () => true }
  },
})
const references = async ({ id }: Action) =>
  (await findAttempts(ctx.db, id)).map(({ reference }) => reference)

test('two workers sign at once: one transaction is stored, and only that one is sent', async () => {
  const both = Promise.withResolvers<void>()
  let signing = 0
  const together = async () => {
    signing += 1
    if (signing === 2) both.resolve()
    await both.promise
  }
  await Promise.all(['a', 'b'].map((who) => advance(ctx, solana, WALLET, rules(who, together))))
  expect(sent).toHaveLength(1)
  expect(await references(WALLET)).toEqual(sent)
})

test('a database epoch that ends while it is signed: nothing is stored or sent', async () => {
  const restart = () => sql`vacuum full payouts`.execute(ctx.db)
  expect(await advance(ctx, solana, WALLET, rules('a', restart))).toEqual({ kind: 'under_way' })
  expect([await references(WALLET), sent]).toEqual([[], []])
})

test('the horizon of an epoch: nothing is signed until it is final, and it does not move with the chain', async () => {
  let [final, horizon] = [100n, 282n]
  const rail = { ...solana, finalHeight: async () => final, horizon: async () => horizon }
  expect(await advance(ctx, rail, WALLET, rules())).toEqual({ kind: 'not_compared' })
  ;[final, horizon] = [282n, 464n]
  expect(await advance(ctx, rail, WALLET, rules())).toEqual({ kind: 'not_compared' })
  final = 283n
  expect(await advance(ctx, rail, WALLET, rules())).toEqual({ kind: 'under_way' })
  expect(sent).toEqual(['a1'])
})

test('attempts that expired are followed by others, up to the limit', async () => {
  for (let n = 0; n < 2; n++) await advance(ctx, solana, WALLET, rules())
  expect(await advance(ctx, solana, WALLET, rules())).toMatchObject({
    kind: 'expired',
    known: { attempts: 2 },
  })
  expect(await references(WALLET)).toEqual(['a1', 'a2'])
})

test('a transaction that is not mined for a minute is replaced at its nonce, and one that another took is not', async () => {
  await advance(ctx, evm, VENUE, rules())
  await advance(ctx, evm, VENUE, rules())
  expect(sent).toEqual(['a1', 'a1'])
  const stuck = { ...ctx, clock: { ...ctx.clock, now: () => later(ctx.clock.now(), 2 * MINUTE) } }
  await advance(stuck, evm, VENUE, rules())
  expect(await references(VENUE)).toEqual(['a1', 'a2'])
  expect((await findAttempts(ctx.db, VENUE.id)).map(({ nonce }) => nonce)).toEqual([0n, 0n])
})

test('a transaction of the account that the database lost: it is recorded by its id, and nothing is signed meanwhile', async () => {
  const lost = { reference: 'lost', nonce: 0n, actionId: VENUE.id }
  const mined = { ...evm, counts: async () => ({ final: 0n, mined: 1n, height: 1n }) }
  expect(await advance(ctx, mined, VENUE, rules())).toEqual({ kind: 'not_compared' })
  const final: NonceRail = {
    ...evm,
    counts: async () => ({ final: 1n, mined: 1n, height: 1n }),
    sentBetween: async () => [lost],
    observe: async ([one]) => ({ kind: 'final', reference: one?.reference ?? '' }),
  }
  expect(await advance(ctx, final, VENUE, rules())).toEqual({ kind: 'not_compared' })
  expect(await advance(ctx, final, VENUE, rules())).toEqual({
    kind: 'final',
    reference: 'lost',
    account: VENUE.account,
  })
  expect(sent).toEqual([])
})

test('what the database lost is found while nothing may be signed', async () => {
  const rail: ExpiringRail = {
    ...solana,
    find: async () => 'lost',
    observe: async () => ({ kind: 'unknown' }),
  }
  const stopped: Rules<string> = { ...rules(), isStopped: async () => true }
  expect(await advance(ctx, rail, WALLET, stopped)).toEqual({ kind: 'not_compared' })
  expect(await references(WALLET)).toEqual(['lost'])
  expect(sent).toEqual([])
})

test('a final transaction is of the account that signed it, also after another key has signed', async () => {
  await advance(ctx, solana, WALLET, rules())
  await advance(ctx, solana, { ...WALLET, account: 'N'.repeat(32) }, rules())
  const final: ExpiringRail = { ...solana, observe: async () => ({ kind: 'final', reference: 'a1' }) }
  expect(await advance(ctx, final, { ...WALLET, account: 'N'.repeat(32) }, rules())).toEqual({
    kind: 'final',
    reference: 'a1',
    account: WALLET.account,
  })
})

test('an account is searched since its key was made, at most for seven days', async () => {
  const searched: Date[] = []
  const find = async (_account: string, _id: string, since: Date) => {
    searched.push(since)
    return undefined
  }
  const madeAt = earlier(ctx.clock.now(), DAY)
  for (const key of [{ epoch: 'earlier', madeAt }, { epoch: 'earlier', madeAt: new Date(0) }, undefined]) {
    const action = { ...WALLET, id: `wop_${searched.length}_00000000000000001`, ...(key && { key }) }
    await advance(ctx, { ...solana, find }, action, rules(action.id))
  }
  const weekAgo = earlier(ctx.clock.now(), 7 * DAY)
  expect(searched).toEqual([madeAt, weekAgo, weekAgo])
})

test('an account that has fewer transactions than the database knows signs nothing: they are not mined, or the nodes are behind', async () => {
  await advance(ctx, evm, VENUE, rules())
  const other: Action = { ...VENUE, id: 'emv_1_00000000000000002:withdraw' }
  expect(await advance(ctx, evm, other, rules())).toEqual({ kind: 'not_compared' })
  expect(await references(other)).toEqual([])
})

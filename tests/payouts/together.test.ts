import type { PayoutBatches } from '@market/core/ports/payout-sender'
import { type Db, transact } from '@market/database/transact'
import { DAY } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { escrow } from '@market/money/ledger'
import {
  advancePayout,
  findPayoutOf,
  type Payout,
  type PayoutContext,
  payoutAuthorizer,
  withdrawPayout,
} from '@market/money/payouts'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { statementsOf } from '../load/order-statements.ts'
import { counterDrift } from '../support/payout-counters.ts'
import { withTerms } from '../support/payout-kinds.ts'
import { CAPS, NETWORK } from '../support/payout-ledger.ts'
import { COST, newSignature, scriptedPayouts } from '../support/scripted-payouts.ts'

const START = new Date('2026-03-01T10:20:00Z')
const float = escrow(NETWORK, 'float')

let database: TestDatabase
let db: Db
let payouts: Awaited<ReturnType<typeof scriptedPayouts>>
beforeEach(async () => {
  database = await testDatabase()
  db = database.db
  payouts = await scriptedPayouts(db, START)
  return () => database.stop()
})

const rowOf = ({ id }: Payout) =>
  db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
const stateOf = async (payout: Payout) => {
  const { state, hold_code } = await rowOf(payout)
  return hold_code === null ? state : `${state}: ${hold_code}`
}
const statesOf = (some: readonly Payout[]) => Promise.all(some.map(stateOf))

/** As the worker does: payouts that are ready at the same time are authorized by one transaction. */
async function advanceTogether(app: PayoutContext, some: readonly Payout[]): Promise<void> {
  const sender = app.payoutSenders[NETWORK]
  if (sender === undefined) throw new Error('no sender')
  const authorize = payoutAuthorizer(app, sender)
  await Promise.allSettled(some.map(({ id }) => advancePayout(app, id, authorize)))
}

const candidateOf = (payout: Payout) => ({
  payout,
  cost: { native: COST, createsAccount: false },
  opensAccount: false,
  signed: newSignature(),
})

const counters = () => db.selectFrom('payout_counters').selectAll().orderBy('hour').orderBy('scope').execute()

describe('caps', () => {
  const caps = { ...CAPS, perPayee: usdc(8_000_000n) }
  const app = () => ({ ...payouts.app, caps })
  const payee = `0x${'ab'.repeat(20)}`

  test('payee_cap: counts a payout for 24 to 25 hours, from the hour in which it was signed', async () => {
    const [first, second] = [await payouts.request({ payee }), await payouts.request({ payee })]
    await advanceTogether(app(), [first])
    payouts.script.outcome = 'final'
    await advanceTogether(app(), [first])
    for (const at of [START, new Date(START.getTime() + DAY), new Date('2026-03-02T10:59:59Z')]) {
      payouts.clock.set(at)
      await advanceTogether(app(), [second])
      expect(await stateOf(second), at.toISOString()).toBe('held: payee_cap')
    }
    payouts.clock.set(new Date('2026-03-02T11:00:00Z'))
    await advanceTogether(app(), [second])
    expect(await stateOf(second)).toBe('signed')
  })

  test('daily_cap: counts what is in flight for longer than 25 hours, until it is final', async () => {
    const small = { ...payouts.app, caps: { ...CAPS, perDay: usdc(8_000_000n) } }
    const [first, second] = [await payouts.request(), await payouts.request()]
    await advanceTogether(small, [first])
    payouts.clock.advance(3 * DAY)
    await advanceTogether(small, [second])
    expect(await statesOf([first, second])).toEqual(['signed', 'held: daily_cap'])
    payouts.script.outcome = 'final'
    await advanceTogether(small, [first])
    await advanceTogether(small, [second])
    expect(await statesOf([first, second])).toEqual(['final', 'signed'])
  })

  test('gas_budget: asks no node for the cost of a held payout only when the budget is used up', async () => {
    const budget = (native: bigint) => ({
      ...payouts.app,
      caps: { ...CAPS, gasBudget: { [NETWORK]: native } },
    })
    const [first, second] = [await payouts.request(), await payouts.request()]
    await advanceTogether(budget(COST), [first])
    const asked = (app: PayoutContext) => {
      const sender = app.payoutSenders[NETWORK]
      if (sender === undefined) throw new Error('no sender')
      let times = 0
      const estimateCost: typeof sender.estimateCost = (request) => {
        times++
        return sender.estimateCost(request)
      }
      const counting = { ...app, payoutSenders: { [NETWORK]: { ...sender, estimateCost } } }
      return { counting, times: () => times }
    }
    await advanceTogether(budget(COST), [second])
    const usedUp = asked(budget(COST))
    await advanceTogether(usedUp.counting, [second])
    expect([usedUp.times(), await stateOf(second)]).toEqual([0, 'held: gas_budget'])
    const almost = asked(budget(COST + 1n))
    await advanceTogether(almost.counting, [second])
    expect([almost.times(), await stateOf(second)]).toEqual([1, 'held: gas_budget'])
  })

  test('payee_cap: an address in other capital letters is the same payee', async () => {
    const [first, second] = [
      await payouts.request({ payee }),
      await payouts.request({ payee: `0x${'AB'.repeat(20)}` }),
    ]
    for (const payout of [first, second]) await advanceTogether(app(), [payout])
    expect(await statesOf([first, second])).toEqual(['signed', 'held: payee_cap'])
  })

  test('payee_cap: a failed payout leaves room for another', async () => {
    const [first, second] = [await payouts.request({ payee }), await payouts.request({ payee })]
    await advanceTogether(app(), [first])
    payouts.script.outcome = 'failed'
    await advanceTogether(app(), [first])
    await advanceTogether(app(), [second])
    expect(await statesOf([first, second])).toEqual(['failed', 'signed'])
  })
})

describe('payouts that are authorized together', () => {
  test('are decided by one transaction, the oldest first, and one that is held holds no other back', async () => {
    const caps = { ...CAPS, perDay: usdc(12_000_000n) }
    const all: Payout[] = []
    for (const micros of [5_000_000n, 8_000_000n, 7_000_000n, 1n]) {
      all.push(await payouts.request({ amount: usdc(micros) }))
      payouts.clock.advance(1)
    }
    const sender = payouts.app.payoutSenders[NETWORK]
    if (sender === undefined) throw new Error('no sender')
    const statements = await statementsOf(database.url, async (heard) => {
      const authorize = payoutAuthorizer({ ...payouts.app, caps, db: heard }, sender)
      // The first one is decided alone, because no other has arrived yet.
      const first = await payouts.request({ amount: usdc(1n), kind: 'move_to_venue' })
      await Promise.all([first, ...all.toReversed()].map((payout) => authorize(candidateOf(payout))))
    })
    expect(await statesOf(all)).toEqual(['signed', 'held: daily_cap', 'signed', 'held: daily_cap'])
    expect(await counterDrift(db)).toEqual([])
    expect(
      statements.filter(({ sql: text }) => text.includes('pg_advisory_xact_lock(hashtext')),
    ).toHaveLength(2)
    expect(statements.filter(({ sql: text }) => text.includes('insert into payout_counters'))).toHaveLength(2)
  })

  // A step that takes long is due again, so one worker can have several of one payout.
  test('of several steps of one payout only that is signed whose signature is stored', async () => {
    const { app, request } = payouts
    const sender = app.payoutSenders[NETWORK]
    if (sender === undefined) throw new Error('no sender')
    const [first, payout] = [await request(), await request()]
    const steps = [candidateOf(payout), candidateOf(payout), candidateOf(payout)]
    const authorize = payoutAuthorizer(app, sender)
    // The first payout is decided alone. The steps arrive meanwhile, and are decided together.
    const [, ...ended] = await Promise.all([authorize(candidateOf(first)), ...steps.map(authorize)])
    const signed = steps.filter((_, n) => ended[n] !== undefined).map((step) => step.signed.reference)
    const stored = await db
      .selectFrom('payout_signatures')
      .select('reference')
      .where('payout_id', '=', payout.id)
      .execute()
    expect(signed).toHaveLength(1)
    expect(stored.map(({ reference }) => reference)).toEqual(signed)
  })

  test('one that cannot be decided fails alone', async () => {
    const { app, request } = payouts
    const all = [await request(), await request(), await request(), await request()] as const
    const broken = all[2]
    const payoutKinds = withTerms(
      app.payoutKinds,
      (known) => (ctx, tx, payout) =>
        payout.id === broken.id ? Promise.reject(new Error('no terms')) : known(ctx, tx, payout),
    )
    await advanceTogether({ ...app, payoutKinds }, all)
    expect(await statesOf(all)).toEqual(['signed', 'signed', 'queued', 'signed'])
    expect(await counterDrift(db)).toEqual([])
  })

  test('one whose payee no node can tell about fails alone', async () => {
    const { app, request } = payouts
    const sender = app.payoutSenders[NETWORK]
    if (sender === undefined) throw new Error('no sender')
    const all = [await request(), await request(), await request()]
    const batches = { failures: async (signed: readonly unknown[]) => signed.map(() => 'it would fail') }
    const rejectionReason: typeof sender.rejectionReason = async ({ to }) => {
      if (to === all[1]?.payee) throw new Error('no node responds')
      return undefined
    }
    const asked = { ...sender, rejectionReason, batches: batches as Partial<PayoutBatches> as PayoutBatches }
    const authorize = payoutAuthorizer(app, asked)
    const ended = await Promise.allSettled(all.map((payout) => authorize(candidateOf(payout))))
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(await statesOf(all)).toEqual(['signed', 'queued', 'signed'])
  })

  /** Payouts that are decided together except the first, how often their terms and the chain are read, and how each ends. */
  async function authorizeBroken(failure: Error, isBroken: (n: number) => boolean) {
    const { app, request } = payouts
    const all = [await request(), await request(), await request(), await request()] as const
    const counted = { balances: 0, terms: 0 }
    const scripted = app.payoutSenders[NETWORK]
    if (scripted === undefined) throw new Error('no sender')
    const sender = {
      ...scripted,
      usdcBalance: () => {
        counted.balances++
        return scripted.usdcBalance()
      },
    }
    const payoutKinds = withTerms(app.payoutKinds, (known) => (ctx, tx, payout) => {
      counted.terms++
      return isBroken(all.findIndex(({ id }) => id === payout.id))
        ? Promise.reject(failure)
        : known(ctx, tx, payout)
    })
    const authorize = payoutAuthorizer({ ...app, payoutKinds }, sender)
    const ended = await Promise.allSettled(all.map((payout) => authorize(candidateOf(payout))))
    return { counted, ended: ended.map(({ status }) => status), states: await statesOf(all) }
  }

  test('after one that cannot be decided, the chain is read again for each of the others', async () => {
    const { counted, ended } = await authorizeBroken(new Error('no terms'), (n) => n === 2)
    expect(ended).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    // The first one is alone in its batch, the others are one batch that knows the same, and then three.
    expect(counted.balances).toBe(1 + 3)
  })

  test('share what the chain says, until a later block is final', async () => {
    const sender = payouts.app.payoutSenders[NETWORK]
    if (sender === undefined) throw new Error('no sender')
    let balances = 0
    const usdcBalance = () => {
      balances++
      return sender.usdcBalance()
    }
    const authorize = payoutAuthorizer(payouts.app, { ...sender, usdcBalance })
    const authorizeOne = async () => {
      const payout = await payouts.request()
      await authorize(candidateOf(payout))
      return stateOf(payout)
    }
    const finalAt = (height: bigint) =>
      sql`insert into followed_networks (network, treasury, final_height, final_hash)
        values (${NETWORK}, 'treasury', ${height}, 'hash')
        on conflict (network) do update set final_height = excluded.final_height`.execute(db)
    await finalAt(1n)
    expect([await authorizeOne(), await authorizeOne(), balances]).toEqual(['signed', 'signed', 1])
    await finalAt(2n)
    expect([await authorizeOne(), balances]).toEqual(['signed', 2])
  })

  test.each(['55P03', '08006', '57P01'])('SQLSTATE %s fails all of them at once', async (code) => {
    const failure = Object.assign(new Error('the database failed'), { code })
    const { counted, ended, states } = await authorizeBroken(failure, (n) => n > 0)
    expect(ended).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(states).toEqual(['signed', 'queued', 'queued', 'queued'])
    expect(counted).toEqual({ balances: 1, terms: 2 })
  })

  test('one that another transaction has locked delays no other and is tried again after a pause', async () => {
    const { app, request } = payouts
    const all = [await request(), await request()] as const
    await transact(db, async (tx) => {
      await sql`select from payouts where id = ${all[0].id} for update`.execute(tx)
      await advanceTogether(app, all)
      expect(await stateOf(all[1])).toBe('signed')
      expect(await advancePayout(app, all[0].id)).toBe(2_000)
    })
    await advanceTogether(app, all)
    expect(await stateOf(all[0])).toBe('signed')
  })

  test('one that is to be paid otherwise than what was checked is left out', async () => {
    const { app, request } = payouts
    const payout = await request()
    const sender = app.payoutSenders[NETWORK]
    if (sender === undefined) throw new Error('no sender')
    const authorize = payoutAuthorizer(app, sender)
    const changes = [{ payee: `0x${'f'.repeat(40)}` }, { amount: usdc(1n) }, { round: 2 }, { markRound: 2 }]
    for (const change of changes)
      expect(await authorize(candidateOf({ ...payout, ...change }))).toBeUndefined()
    expect(await stateOf(payout)).toBe('queued')
    expect(await authorize(candidateOf(payout))).toMatchObject({ payout: { state: 'signed' } })
  })

  test('a payout that was requested again after a withdrawal is counted with its new amount', async () => {
    const { app, ctx, request } = payouts
    const { kind, subject } = await request()
    await ctx.transact((tx) => withdrawPayout(ctx, tx, { kind, subject, to: float }))
    const again = await request({ kind, subject, amount: usdc(3_000_000n) })
    await advanceTogether(app, [again])
    expect((await findPayoutOf(db, kind, subject))?.countedAt).toEqual(START)
    expect((await counters())[0]).toMatchObject({ capped_micros: 3_000_000n, in_flight_micros: 3_000_000n })
  })
})

import { readFile } from 'node:fs/promises'
import type { Db } from '@market/database/transact'
import { HOUR, MINUTE } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { markOf } from '@market/kernel/payout-mark'
import { escrow } from '@market/money/ledger'
import {
  advancePayout,
  findCounterDrift,
  type Payout,
  type PayoutContext,
  payoutAuthorizer,
  retryPayout,
  withdrawPayout,
} from '@market/money/payouts'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import fc from 'fast-check'
import { sql } from 'kysely'
import pg from 'pg'
import { beforeEach, describe, expect, test } from 'vitest'
import { counterDrift } from '../support/payout-counters.ts'
import { withTerms } from '../support/payout-kinds.ts'
import { CAPS, NETWORK } from '../support/payout-ledger.ts'
import { COST, type Script, scriptedPayouts } from '../support/scripted-payouts.ts'

const RUNS = Number(process.env['COUNTER_RUNS'] ?? 12)
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

/** As the worker does: payouts that are ready at the same time are authorized by one transaction. */
async function advanceTogether(app: PayoutContext, some: readonly Payout[]): Promise<void> {
  const sender = app.payoutSenders[NETWORK]
  if (sender === undefined) throw new Error('no sender')
  const authorize = payoutAuthorizer(app, sender)
  await Promise.allSettled(some.map(({ id }) => advancePayout(app, id, authorize)))
}

async function runScript(url: string, script: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(script).finally(() => client.end())
}

const counters = () => db.selectFrom('payout_counters').selectAll().orderBy('hour').orderBy('scope').execute()

describe('counters', () => {
  const OPEN = {
    ...CAPS,
    perPayee: usdc(20_000_000n),
    perDay: usdc(60_000_000n),
    gasBudget: { [NETWORK]: 20n * COST },
  }

  const SCRIPT: fc.Arbitrary<Script> = fc.record({
    outcome: fc.constantFrom('unknown', 'seen', 'final', 'final', 'failed', 'expired'),
    realCost: fc.option(fc.bigInt(1n, 3n * COST), { nil: undefined }),
    rejects: fc.constantFrom(false, false, false, true),
    signs: fc.constantFrom(true, true, true, false),
  })
  const WHICH = fc.array(fc.nat(1_000), { minLength: 1, maxLength: 5 })
  const STEP = fc.oneof(
    fc.record({
      kind: fc.constant('request' as const),
      micros: fc.bigInt(1n, 9_000_000n),
      payee: fc.nat(2),
      agent: fc.option(fc.nat(1), { nil: undefined }),
      isMove: fc.constantFrom(false, false, false, true),
    }),
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('advance' as const), which: WHICH, script: SCRIPT }),
    },
    fc.record({
      kind: fc.constantFrom('withdraw', 'request again', 'retry', 'distrust', 'lose'),
      which: WHICH,
    }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 90 * MINUTE }) }),
  )
  type Step = typeof STEP extends fc.Arbitrary<infer S> ? S : never

  /** Does to each chosen payout what its state allows. */
  async function play(history: readonly Step[], seen: Set<string>): Promise<void> {
    const known: Payout[] = []
    const distrusted = new Set<string>()
    const app = {
      ...payouts.app,
      caps: OPEN,
      payoutKinds: withTerms(payouts.app.payoutKinds, (known) => async (...of) => {
        if (!distrusted.has(of[2].id)) return known(...of)
        return { network: NETWORK, amount: usdc(0n), payees: [] }
      }),
    }
    for (const step of history) {
      await doStep(step, app, known, distrusted)
      for (const { state, hold_code } of await Promise.all(known.map(rowOf)))
        seen.add(`${state} ${hold_code}`)
      expect(
        await counterDrift(db),
        JSON.stringify(step, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
      ).toEqual([])
      expect(await findCounterDrift(db)).toEqual([])
    }
  }

  async function doStep(step: Step, app: PayoutContext, known: Payout[], distrusted: Set<string>) {
    const { ctx, clock, script, request } = payouts
    if (step.kind === 'wait') return clock.advance(step.ms)
    if (step.kind === 'request') {
      // The first one has capital letters, which name the same address.
      const payee = `0x${'Ab'.repeat(19)}0${step.payee}`
      const of = step.isMove ? ({ kind: 'move_to_venue' } as const) : {}
      const agentId =
        step.agent === undefined ? {} : { agentId: `agt_1_0000000000000000${step.agent}` as AgentId }
      known.push(await request({ ...of, ...agentId, payee, amount: usdc(step.micros) }))
      return
    }
    const chosen = [...new Set(step.which.map((n) => known[n % known.length]))].filter(
      (one) => one !== undefined,
    )
    if (step.kind === 'advance') {
      Object.assign(script, step.script)
      await advanceTogether(app, chosen)
      return
    }
    for (const payout of chosen) {
      const { kind, subject, id } = payout
      const { state, mark, amount_micros, payee } = await rowOf(payout)
      if (step.kind === 'distrust') distrusted.has(id) ? distrusted.delete(id) : distrusted.add(id)
      if (step.kind === 'withdraw' && ['queued', 'held', 'failed'].includes(state))
        await ctx.transact((tx) => withdrawPayout(ctx, tx, { kind, subject, to: float }))
      if (step.kind === 'retry' && state === 'failed')
        await ctx.transact((tx) => retryPayout(ctx, tx, id, { payee: `0x${'12'.repeat(20)}` }))
      if (step.kind === 'request again' && state === 'withdrawn')
        await payouts.request({
          kind,
          subject,
          payee: step.which.length > 2 ? payee : null,
          amount: usdc(amount_micros + 1n),
        })
      if (step.kind === 'lose' && !['final', 'failed', 'withdrawn'].includes(state))
        await sql`
          insert into outgoing_transfers (network, reference, transfer_index, mark, payee, amount_micros, block_height,
            block_hash, happened_at, is_final, created_at)
          values (${NETWORK}, ${`0x${id.slice(4).padStart(64, 'f')}`}, 0, ${mark}, ${payee}, ${amount_micros}, 1, '0x',
            ${payouts.clock.now()}, false, ${payouts.clock.now()}) on conflict do nothing`.execute(db)
    }
  }

  test('are the sum over all payouts after every step of any history', async () => {
    const seen = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 25, maxLength: 50 }), (history) => play(history, seen)),
      { numRuns: RUNS, seed: Number(process.env['SEED'] ?? 42), endOnFailure: true },
    )
    // The histories reach what changes counters.
    for (const state of [
      'signed null',
      'final null',
      'failed null',
      'withdrawn null',
      'held order_mismatch',
      'signed order_mismatch',
    ])
      expect(seen, state).toContain(state)
    const { rows: recovered } = await sql`
      select from payouts where state in ('signed', 'final')
        and not exists (select from payout_signatures where payout_id = payouts.id)`.execute(db)
    expect(recovered.length).toBeGreaterThan(0)
    expect((await counters()).length).toBeGreaterThan(RUNS)
  }, 600_000)

  test('a negative one is rejected by the database', async () => {
    const insert = (column: string) =>
      db.executeQuery(
        sql`insert into payout_counters (network, scope, hour, ${sql.id(column)}) values (${NETWORK}, '*', ${new Date(0)}, -1)`.compile(
          db,
        ),
      )
    for (const column of ['capped_micros', 'capped_in_flight_micros', 'in_flight_micros', 'native'])
      await expect(insert(column)).rejects.toMatchObject({ code: '23514' })
  })

  test('the recount of the runbook makes them the sum again', async () => {
    const { app, request } = payouts
    const all = [await request({ agentId: 'agt_1_00000000000000001' as AgentId }), await request()]
    await advanceTogether(app, all)
    const before = await counters()
    await sql`update payout_counters set capped_micros = capped_micros + 1`.execute(db)
    expect(await counterDrift(db)).not.toEqual([])
    const runbook = await readFile('docs/operations/runbooks/stuck-payout.md', 'utf8')
    const recount = /```sql\n(begin;.*?commit;)\n```/su.exec(runbook)?.[1]
    if (recount === undefined) throw new Error('no statement')
    await runScript(database.url, recount)
    expect(await counters()).toEqual(before)
  })

  test('a failed payout is taken out of the caps and of what is in flight, and its cost stays', async () => {
    const { app, script, request } = payouts
    const payout = await request({ agentId: 'agt_1_00000000000000001' as AgentId })
    await advanceTogether(app, [payout])
    expect(await stateOf(payout)).toBe('signed')
    const of = (capped: bigint, inFlight: bigint) => ({
      capped_micros: capped,
      capped_in_flight_micros: capped,
      in_flight_micros: inFlight,
    })
    expect(await counters()).toMatchObject([
      { scope: '*', ...of(5_000_000n, 5_000_000n), native: String(COST) },
      { scope: 'agent:agt_1_00000000000000001', ...of(5_000_000n, 0n) },
      { scope: `payee:${payout.payee}`, ...of(5_000_000n, 0n) },
    ])
    script.outcome = 'failed'
    await advanceTogether(app, [payout])
    expect(await stateOf(payout)).toBe('failed')
    expect(await counters()).toMatchObject([
      { scope: '*', ...of(0n, 0n), native: String(COST) },
      of(0n, 0n),
      of(0n, 0n),
    ])
  })

  test('a final payout is not in flight, and its real cost replaces the estimate in the hour of its authorization', async () => {
    const { app, script, request, clock } = payouts
    const payout = await request()
    await advanceTogether(app, [payout])
    clock.advance(3 * HOUR)
    Object.assign(script, { outcome: 'final', realCost: 7n })
    await advanceTogether(app, [payout])
    expect(await counters()).toMatchObject([
      {
        hour: new Date('2026-03-01T10:00:00Z'),
        scope: '*',
        capped_micros: 5_000_000n,
        capped_in_flight_micros: 0n,
        in_flight_micros: 0n,
        native: '7',
      },
      { scope: `payee:${payout.payee}` },
    ])
  })

  test('what does not count against the caps delays no other, however long it is in flight', async () => {
    const { app, request, clock } = payouts
    const caps = { ...CAPS, perDay: usdc(50_000_000n) }
    const move = await request({ kind: 'move_to_venue', amount: usdc(50_000_000n) })
    await advanceTogether({ ...app, caps }, [move])
    clock.advance(26 * HOUR)
    const next = await request()
    await advanceTogether({ ...app, caps }, [next])
    expect([await stateOf(move), await stateOf(next)]).toEqual(['signed', 'signed'])
  })

  test('what counts stays on the caps of its payee and agent while it is in flight, also after 25 hours', async () => {
    const { app, script, request, clock } = payouts
    const agentId = 'agt_1_00000000000000001' as AgentId
    const caps = { ...CAPS, perPayee: usdc(8_000_000n) }
    const first = await request({ agentId })
    await advanceTogether({ ...app, caps }, [first])
    clock.advance(26 * HOUR)
    const [samePayee, sameAgent] = [await request({ payee: first.payee }), await request({ agentId })]
    await advanceTogether({ ...app, caps }, [samePayee, sameAgent])
    expect([await stateOf(samePayee), await stateOf(sameAgent)]).toEqual([
      'held: payee_cap',
      'held: payee_cap',
    ])
    script.outcome = 'final'
    await advanceTogether({ ...app, caps }, [first])
    await advanceTogether({ ...app, caps }, [samePayee, sameAgent])
    expect([await stateOf(samePayee), await stateOf(sameAgent)]).toEqual(['signed', 'signed'])
  })

  test('a payout that is recovered from the chain counts by the same rule as one that is authorized', async () => {
    const { app, request, clock } = payouts
    const all = [await request({ kind: 'move_to_venue' }), await request()]
    for (const [n, payout] of all.entries())
      await sql`
        insert into outgoing_transfers (network, reference, transfer_index, mark, payee, amount_micros, block_height,
          block_hash, happened_at, is_final, created_at)
        values (${NETWORK}, ${`0x${'f'.repeat(64)}`}, ${n}, ${markOf(NETWORK, payout)}, ${payout.payee}, ${payout.amount}, 1,
          '0x', ${clock.now()}, false, ${clock.now()})`.execute(db)
    await advanceTogether(app, all)
    expect(await Promise.all(all.map(rowOf))).toMatchObject([
      { state: 'signed', counts_against_caps: false },
      { state: 'signed', counts_against_caps: true },
    ])
    expect(await counterDrift(db)).toEqual([])
  })

  test('one whose figures in flight are not those of the payouts is found', async () => {
    const { app, request } = payouts
    await advanceTogether(app, [await request()])
    expect(await findCounterDrift(db)).toEqual([])
    await sql`update payout_counters set in_flight_micros = in_flight_micros + 1 where scope = '*'`.execute(
      db,
    )
    expect(await findCounterDrift(db)).toEqual([
      expect.stringMatching(/^base-mainnet \* .+ is 5000000 5000001 instead of 5000000 5000000$/),
    ])
    await sql`update payout_counters set capped_in_flight_micros = 0, in_flight_micros = 0`.execute(db)
    expect(await findCounterDrift(db)).toHaveLength(2)
  })

  test('two workers at once authorize no more than a cap leaves', async () => {
    const { app, request } = payouts
    for (let round = 1; round <= 5; round++) {
      const caps = { ...CAPS, perDay: usdc(BigInt(round) * 5_000_000n) }
      const all = await Promise.all(Array.from({ length: 6 }, () => request()))
      await Promise.all([
        advanceTogether({ ...app, caps }, all.slice(0, 3)),
        advanceTogether({ ...app, caps }, all.slice(3)),
      ])
      const states = await Promise.all(all.map(stateOf))
      expect(states.toSorted()).toEqual([...Array(5).fill('held: daily_cap'), 'signed'])
    }
    expect(await counterDrift(db)).toEqual([])
  })

  test('updates of a busy counter leave its indexes as they are', async () => {
    const { app, request } = payouts
    await advanceTogether(app, [await request()])
    for (let n = 0; n < 20; n++) await advanceTogether(app, [await request({ amount: usdc(1_000n) })])
    await sql`select pg_stat_force_next_flush()`.execute(db)
    const { rows } = await sql<{ updated: bigint; hot: bigint }>`
      select n_tup_upd as updated, n_tup_hot_upd as hot from pg_stat_user_tables where relname = 'payout_counters'`.execute(
      db,
    )
    expect(rows[0]?.updated).toBeGreaterThanOrEqual(20n)
    expect(rows[0]?.hot).toBe(rows[0]?.updated)
  })
})

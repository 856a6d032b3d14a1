import { setTimeout as wait } from 'node:timers/promises'
import { AUTHORIZATION_USED_TOPIC, topicOf } from '@market/chains/evm/transfers'
import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { balanceOf, payable, totals } from '@market/money/ledger'
import { expect, test } from 'vitest'
import { counterDrift } from '../support/payout-counters.ts'
import { startFaultInjector } from '../support/payout-fault-injector.ts'
import { type PayoutWorld, startPayoutWorld } from '../support/payout-world.ts'
import { until } from '../support/until.ts'

const SEEDS = Number(process.env['SEEDS'] ?? 1)
const FIRST_SEED = Number(process.env['SEED'] ?? 1)
const PAYOUTS = Number(process.env['PAYOUTS'] ?? 30)
const WORKERS = Number(process.env['PAYOUT_WORKERS'] ?? 2)
/** Patience for a busy machine, not a bound of the product. */
const WITHIN_MS = 480_000
/** How long workers are killed and nodes fail, at most; what is left must then end by itself. */
const FAULTS_MS = Number(process.env['FAULTS_MS'] ?? 10_000)
/** A slow machine must not get away with fewer kills. */
const LEAST_KILLS = 8
/** A new payout as often as this. */
const EVERY_MS = 150
/** What was sent to a node that died is sent again after a minute of the marketplace's clock. */
const STUCK_MS = 61_000
const ADVANCE_EVERY_MS = 3_000
const REORG_DEPTH = 4

interface Owed {
  readonly kind: 'payout' | 'refund'
  readonly network: Network
  readonly payee: string
  readonly amount: bigint
}

/** Payees are paid several times, some the same amount twice: equal payments must not be taken for one another. */
async function owe(world: PayoutWorld): Promise<Owed[]> {
  const payees = new Map<string, string[]>()
  for (const network of NETWORKS) {
    const { newPayee, newBuyer } = world.chains[network]
    const some = Array.from({ length: Math.ceil(PAYOUTS / 12) }, () => newPayee())
    const buyers = Array.from({ length: Math.ceil(PAYOUTS / 36) }, () => newBuyer())
    payees.set(`payout ${network}`, await Promise.all(some))
    payees.set(`refund ${network}`, await Promise.all(buyers))
  }
  return Array.from({ length: PAYOUTS }, (_, n) => {
    const kind = n % 4 === 0 ? 'refund' : 'payout'
    const network = NETWORKS[n % NETWORKS.length] ?? 'base-mainnet'
    const some = payees.get(`${kind} ${network}`) ?? []
    const payee = some[Math.floor(world.random() * some.length)] ?? ''
    return { kind, network, payee, amount: BigInt(1 + Math.floor(world.random() * 3)) * 1_000_001n }
  })
}

/** One after the other, so that workers die at every stage of some. */
const request = async (world: PayoutWorld, owed: readonly Owed[]) => {
  for (const [n, { kind, network, payee, amount }] of owed.entries()) {
    await world.request({ kind, network, name: `order-${n}`, payee, amount: usdc(amount) })
    await wait(EVERY_MS)
  }
}

const countIn = async (world: PayoutWorld, ...states: string[]): Promise<number> =>
  (await world.db.selectFrom('payouts').select('id').where('state', 'in', states).execute()).length

/** Payments out of the treasuries in final blocks. */
const countRead = async ({ db }: PayoutWorld): Promise<number> =>
  (await db.selectFrom('outgoing_transfers').select('reference').where('is_final', '=', true).execute())
    .length

/** Whether all were compared with the chain: until then nothing is paid, and nothing could go wrong. */
const isOpen = async ({ db }: PayoutWorld): Promise<boolean> => {
  const gates = await db.selectFrom('payout_guards').select('compared_at').execute()
  return gates.length === NETWORKS.length && gates.every(({ compared_at }) => compared_at !== null)
}

/** Undoes the newest blocks of one chain once some of its payouts are in them. */
async function reorgOnce({ db, chains }: PayoutWorld): Promise<void> {
  await until(
    'payouts are signed on Base',
    async () => {
      const rows = await db
        .selectFrom('payouts')
        .select('id')
        .where('network', '=', 'base-mainnet')
        .where('state', 'in', ['signed', 'final'])
        .execute()
      return rows.length >= PAYOUTS / 12
    },
    { withinMs: WITHIN_MS, everyMs: 50 },
  )
  await chains['base-mainnet'].chain.reorg(REORG_DEPTH)
}

/** Moves the clock on, so that what is stuck is sent again soon. */
async function untilOver(
  world: PayoutWorld,
  isOver: () => Promise<boolean>,
  withinMs: number,
): Promise<void> {
  let advancedAt = performance.now()
  const isOverLater = async () => {
    if (await isOver()) return true
    if (performance.now() - advancedAt > ADVANCE_EVERY_MS) {
      world.advanceClock(STUCK_MS)
      advancedAt = performance.now()
    }
    return false
  }
  await until('every payout has ended', isOverLater, { withinMs, everyMs: 100 })
}

/** Each payment that the chain shows made exactly one payout final, and the treasuries' accounts have sent no transaction. */
async function expectPaidOnce(world: PayoutWorld): Promise<void> {
  const rows = await world.db.selectFrom('payouts').select(['mark', 'final_reference']).execute()
  const sent = await world.db
    .selectFrom('outgoing_transfers')
    .select(['mark', 'reference', 'is_final'])
    .execute()
  const byMark = (a: { mark: string | null }, b: { mark: string | null }) =>
    (a.mark ?? '').localeCompare(b.mark ?? '')
  expect(sent.toSorted(byMark)).toEqual(
    rows
      .toSorted(byMark)
      .map(({ mark, final_reference: reference }) => ({ mark, reference, is_final: true })),
  )
  for (const network of ['base-mainnet', 'alt-mainnet'] as const) {
    const { chain, treasury } = world.chains[network]
    expect(await chain.rpc('eth_getTransactionCount', [treasury, 'latest'])).toBe('0x0')
    const topics = [AUTHORIZATION_USED_TOPIC, topicOf(treasury)]
    const logs = await chain.rpc('eth_getLogs', [{ address: chain.usdc, fromBlock: '0x0', topics }])
    const used = (logs as readonly { topics: readonly string[] }[]).map((log) => log.topics[2] ?? '')
    const marks = await world.db.selectFrom('payouts').select('mark').where('network', '=', network).execute()
    expect(used.toSorted()).toEqual(marks.map(({ mark }) => mark).toSorted())
  }
}

async function expectExact(world: PayoutWorld, owed: readonly Owed[]): Promise<void> {
  const rows = await world.db.selectFrom('payouts').selectAll().execute()
  expect(rows.map(({ state, reason }) => ({ state, reason }))).toEqual(
    owed.map(() => ({ state: 'final', reason: null })),
  )
  for (const network of NETWORKS) {
    const chain = world.chains[network]
    const due = new Map<string, bigint>()
    for (const one of owed.filter((some) => some.network === network))
      due.set(one.payee, (due.get(one.payee) ?? 0n) + one.amount)
    for (const [payee, amount] of due)
      expect({ network, payee, holds: await chain.balanceOf(payee) }).toEqual({
        network,
        payee,
        holds: amount,
      })
    const ledgerTotals = await totals(world.db, network)
    expect(ledgerTotals).toMatchObject({ imbalance: 0n, liabilities: { payable: 0n } })
    expect(await chain.balanceOf(chain.treasury)).toBe(ledgerTotals.treasuryView)
  }
  for (const row of rows) expect(await balanceOf(world.db, payable(row.network as Network, row.id))).toBe(0n)
}

test.concurrent.for(Array.from({ length: SEEDS }, (_, n) => FIRST_SEED + n))(
  `${PAYOUTS} payouts and refunds on three chains are each paid once while workers are killed and nodes fail, seed %i`,
  { timeout: WITHIN_MS + 60_000 },
  async (seed) => {
    const world = await startPayoutWorld(seed)
    const { environment, random } = world
    for (const relay of world.relays) relay.share = 0.2
    const injector = startFaultInjector({ workers: WORKERS, environment, random })
    try {
      const owed = await owe(world)
      const areOpen = until('all networks are paid on', () => isOpen(world), { withinMs: 180_000 })
      await Promise.race([areOpen, injector.keeping])
      const requesting = request(world, owed)
      const isUnderWay = async () => (await countIn(world, 'signed', 'final')) > 0
      await Promise.race([until('the first is signed', isUnderWay, { withinMs: 180_000 }), injector.keeping])
      injector.begin()
      const began = performance.now()
      const reorg = reorgOnce(world)
      const isOver = async () => (await countIn(world, 'final', 'failed')) >= owed.length
      const isEnough = async () =>
        (performance.now() - began > FAULTS_MS && injector.kills() >= LEAST_KILLS) || (await isOver())
      const faults = async () => {
        await requesting
        await until('all ended or enough trouble', isEnough, { withinMs: WITHIN_MS, everyMs: 100 })
      }
      await Promise.race([faults(), injector.keeping])
      const endedInFaults = await countIn(world, 'final')
      injector.calm()
      for (const relay of world.relays) relay.share = 0
      const left = WITHIN_MS - (performance.now() - began)
      await Promise.race([reorg, injector.keeping])
      await untilOver(world, isOver, left)
      const took = Math.round(performance.now() - began)
      await expectExact(world, owed)
      // A payout that its nodes show as final can end before its block is read.
      await until('every payment was read', async () => (await countRead(world)) >= owed.length, {
        withinMs: WITHIN_MS,
        everyMs: 100,
      })
      await expectPaidOnce(world)
      expect(await counterDrift(world.db)).toEqual([])
      expect(injector.kills()).toBeGreaterThan(0)
      const signatures = await world.db.selectFrom('payout_signatures').select('reference').execute()
      const counts = world.relays.map(({ counts: { failed, hung, passed } }) => `${passed}/${failed}/${hung}`)
      process.stdout.write(
        `seed ${seed}: ${owed.length} in ${took} ms, ${endedInFaults} of them among ${injector.kills()} kills, ` +
          `${signatures.length} signatures, calls passed/failed/hung ${counts.join(' ')}\n`,
      )
      for (const secret of [...world.treasuryKeys, 'the-key-of'])
        expect(injector.output()).not.toContain(secret)
    } finally {
      await injector.stop()
      await world.stop()
    }
  },
)

import { turnSwitch } from '@market/core/switches'
import { usdc } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { balanceOf, fees, post } from '@market/money/ledger'
import { writeOffTransfer } from '@market/money/payouts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OwedOrder } from '../support/owed-order.ts'
import {
  expectLedgerMatchesChains,
  expectPaidOnce,
  finalReferences,
  idOf,
  LONG,
  newOwedPayouts,
  requestPayouts,
  treasuryBalances,
  untilAll,
  untilFinal,
  withWorker,
} from '../support/owed-payouts.ts'
import { counterDrift } from '../support/payout-counters.ts'
import { floatOf, type PayoutWorld, startPayoutWorld, type WorldLedger } from '../support/payout-world.ts'
import { until } from '../support/until.ts'

const SENDS = /"(?:sendTransaction|eth_sendRawTransaction)"/
const HISTORY = /"(?:getSignaturesForAddress|eth_getLogs)"/

const freeze = ({ ctx }: WorldLedger, on: boolean) =>
  turnSwitch(ctx, { name: 'freeze_payouts', on, reason: 'a test' })

/** Payouts by their state when the backup was made; the lost ones were requested after it. */
interface History {
  readonly ended: readonly OwedOrder[]
  readonly signed: readonly OwedOrder[]
  readonly waiting: readonly OwedOrder[]
  readonly lost: readonly OwedOrder[]
  readonly restore: () => Promise<WorldLedger>
}

/** Pays all of them with a database of which only the backup remains. */
async function payAndBackUp(world: PayoutWorld): Promise<History> {
  const { ledger } = world
  const worker = await ledger.worker()
  const [ended, signed, waiting, lost] = [
    await newOwedPayouts(world, 'ended'),
    await newOwedPayouts(world, 'signed'),
    await newOwedPayouts(world, 'waiting'),
    await newOwedPayouts(world, 'lost'),
  ]
  try {
    await requestPayouts(ledger, ended)
    await untilFinal(world, ledger, ended)
    world.holdBack(SENDS)
    await requestPayouts(ledger, signed)
    await untilAll(ledger, signed, 'signed', ({ state }) => state === 'signed')
    await freeze(ledger, true)
    await requestPayouts(ledger, waiting)
    await untilAll(ledger, waiting, 'held', ({ hold_code }) => hold_code === 'payouts_frozen')
    const restore = await world.backup()
    await freeze(ledger, false)
    await requestPayouts(ledger, lost)
    // On Solana an unsent transaction expires and is signed again: the backup holds the older signature only.
    await until('the payouts on Solana are signed again', () => isSignedAgain(ledger, signed), LONG)
    world.holdBack(undefined)
    await untilFinal(world, ledger, [...signed, ...waiting, ...lost])
    return { ended, signed, waiting, lost, restore }
  } finally {
    await worker.stop()
  }
}

const isSignedAgain = async ({ db }: WorldLedger, owed: readonly OwedOrder[]): Promise<boolean> => {
  const ids = owed.filter(({ network }) => network === 'solana-mainnet').map(idOf)
  const rows = await db.selectFrom('payout_signatures').select('n').where('payout_id', 'in', ids).execute()
  return rows.filter(({ n }) => n > 1).length >= ids.length
}

let world: PayoutWorld
let history: History
beforeAll(async () => {
  world = await startPayoutWorld(1)
  history = await payAndBackUp(world)
}, 900_000)
afterAll(() => world?.stop())

test('restored database: payouts it lost and is asked for again are found on the chains and not paid twice', {
  timeout: 900_000,
}, async () => {
  const { ended, signed, waiting, lost } = history
  const ledger = await history.restore()
  const fresh = await newOwedPayouts(world, 'fresh')
  const before = await treasuryBalances(world)
  world.holdBack(HISTORY)
  await freeze(ledger, false)
  await withWorker(ledger, async () => {
    // Clients repeat their requests.
    await requestPayouts(ledger, [...waiting, ...lost, ...fresh])
    await untilAll(
      ledger,
      [...waiting, ...lost, ...fresh],
      'held until the chains were read',
      ({ state, hold_code }) => state === 'held' && hold_code === 'not_compared',
    )
    expect(await treasuryBalances(world)).toEqual(before)
    world.holdBack(undefined)
    await untilFinal(world, ledger, [...signed, ...waiting, ...lost, ...fresh])
  })
  await expectPaidOnce(world, [...ended, ...signed, ...waiting, ...lost, ...fresh])
  const known = [...ended, ...signed, ...waiting, ...lost]
  expect(await finalReferences(ledger, known)).toEqual(await finalReferences(world.ledger, known))
  await expectLedgerMatchesChains(world, ledger)
  expect(await counterDrift(ledger.db)).toEqual([])
})

test('restored database: without repeated requests, new payouts are held until the loss is written off', {
  timeout: 900_000,
}, async () => {
  const { signed, waiting, lost } = history
  const ledger = await history.restore()
  const { ctx, db } = ledger
  await freeze(ledger, false)
  const next = await newOwedPayouts(world, 'next')
  let gone: { network: string; reference: string; transfer_index: number; amount_micros: bigint }[] = []
  await withWorker(ledger, async () => {
    await requestPayouts(ledger, next)
    await untilFinal(world, ledger, [...signed, ...waiting])
    await untilAll(ledger, next, 'held for the shortage', ({ hold_code }) => hold_code === 'treasury_short')
    for (const network of NETWORKS) {
      const moves = [{ from: floatOf(network), to: fees(network), amount: usdc(50_000_000n) }]
      const earned = { key: `earned:${network}`, reason: 'earned', subject: 'earned', network, moves }
      await ctx.transact((tx) => post(ctx, tx, earned))
    }
    gone = await db
      .selectFrom('outgoing_transfers')
      .select(['network', 'reference', 'transfer_index', 'amount_micros'])
      .where((where) =>
        where.not(
          where.exists(
            where.selectFrom('payouts').select('id').whereRef('payouts.mark', '=', 'outgoing_transfers.mark'),
          ),
        ),
      )
      .execute()
    for (const { network, reference, transfer_index: index } of gone)
      await ctx.transact((tx) => writeOffTransfer(ctx, tx, { network: network as Network, reference, index }))
    await untilFinal(world, ledger, next)
  })
  await expectPaidOnce(world, [...lost, ...next])
  await expectLedgerMatchesChains(world, ledger)
  expect(await counterDrift(ledger.db)).toEqual([])
  expect(gone.length).toBeGreaterThanOrEqual(lost.length)
  for (const network of NETWORKS) {
    const loss = gone
      .filter((one) => one.network === network)
      .reduce((sum, { amount_micros }) => sum + amount_micros, 0n)
    expect(await balanceOf(db, fees(network))).toBe(50_000_000n - loss)
  }
})

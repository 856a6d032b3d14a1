import { usdc } from '@market/kernel/money'
import { NETWORKS } from '@market/kernel/network'
import { totals } from '@market/money/ledger'
import { type Payout, payoutIdOf } from '@market/money/payouts'
import { expect } from 'vitest'
import { type OwedOrder, orderIdOf } from './owed-order.ts'
import type { PayoutWorld, WorldLedger } from './payout-world.ts'
import type { ServerProcess } from './processes.ts'
import { until } from './until.ts'

/** Payouts that a test requests, follows to their end and compares with the chains. */

export const LONG = { withinMs: 600_000, everyMs: 50 }
const PER_NETWORK = 2
/** A held payout is tried again after 30 s of the marketplace's clock, and reserves are counted again after 25 s. */
const RETRY_MS = 31_000
const ADVANCE_EVERY_MS = 1_500

export const idOf = ({ name }: OwedOrder) => payoutIdOf('payout', orderIdOf(name))

/** Two payouts on each network, each to a new wallet. */
export async function newOwedPayouts({ chains }: PayoutWorld, batch: string): Promise<OwedOrder[]> {
  const owed: OwedOrder[] = []
  for (const network of NETWORKS)
    for (let n = 0; n < PER_NETWORK; n++)
      owed.push({
        network,
        kind: 'payout',
        name: `${batch}-${network}-${n}`,
        payee: await chains[network].newPayee(),
        amount: usdc(1_000_001n),
      })
  return owed
}

export const requestPayouts = (ledger: WorldLedger, owed: readonly OwedOrder[]): Promise<Payout[]> =>
  Promise.all(owed.map((one) => ledger.request(one)))

const rowsOf = ({ db }: WorldLedger, owed: readonly OwedOrder[]) =>
  db.selectFrom('payouts').selectAll().where('id', 'in', owed.map(idOf)).orderBy('id').execute()

type Row = Awaited<ReturnType<typeof rowsOf>>[number]

export const untilAll = (
  ledger: WorldLedger,
  owed: readonly OwedOrder[],
  what: string,
  isSo: (row: Row) => boolean,
) =>
  until(
    `${owed.length} payouts are ${what}`,
    async () => {
      const rows = await rowsOf(ledger, owed)
      return rows.length === owed.length && rows.every(isSo)
    },
    LONG,
  )

/** Moves the clock on while payouts are held, so that they are tried again soon. */
export async function untilFinal(
  world: PayoutWorld,
  ledger: WorldLedger,
  owed: readonly OwedOrder[],
): Promise<void> {
  let advancedAt = Number.NEGATIVE_INFINITY
  const areFinal = async () => {
    const rows = await rowsOf(ledger, owed)
    const isDue = performance.now() - advancedAt > ADVANCE_EVERY_MS
    if (isDue && rows.some(({ state }) => state === 'held')) {
      world.advanceClock(RETRY_MS)
      advancedAt = performance.now()
    }
    return rows.length === owed.length && rows.every(({ state }) => state === 'final')
  }
  await until(`${owed.length} payouts are final`, areFinal, LONG)
}

export const expectPaidOnce = async ({ chains }: PayoutWorld, owed: readonly OwedOrder[]) => {
  for (const { network, payee, amount } of owed)
    expect({ payee, holds: await chains[network].balanceOf(payee ?? '') }).toEqual({ payee, holds: amount })
}

export const finalReferences = async (ledger: WorldLedger, owed: readonly OwedOrder[]) =>
  (await rowsOf(ledger, owed)).map(({ id, final_reference }) => [id, final_reference])

export const treasuryBalances = ({ chains }: PayoutWorld) =>
  Promise.all(NETWORKS.map((network) => chains[network].balanceOf(chains[network].treasury)))

export const expectLedgerMatchesChains = async (world: PayoutWorld, { db }: WorldLedger) => {
  const all = await Promise.all(NETWORKS.map((network) => totals(db, network)))
  expect(all.map(({ treasuryView }) => treasuryView)).toEqual(await treasuryBalances(world))
  expect(all.map(({ imbalance }) => imbalance)).toEqual([0n, 0n, 0n])
}

export const withWorker = async (ledger: WorldLedger, work: (worker: ServerProcess) => Promise<void>) => {
  const worker = await ledger.worker()
  try {
    await work(worker)
  } finally {
    await worker.stop()
  }
}

import { NETWORKS, type Network } from '@market/kernel/network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommitProxy, startCommitProxy } from '../support/commit-proxy.ts'
import type { OwedOrder } from '../support/owed-order.ts'
import {
  expectLedgerMatchesChains,
  expectPaidOnce,
  LONG,
  newOwedPayouts,
  requestPayouts,
  untilFinal,
  withWorker,
} from '../support/owed-payouts.ts'
import { counterDrift } from '../support/payout-counters.ts'
import { type PayoutWorld, startPayoutWorld } from '../support/payout-world.ts'
import { until } from '../support/until.ts'

/** Kills the only worker with SIGKILL at each step between a payout's signature and its last entry in the ledger. */

type Moment = 'before' | 'after'
type Step = { readonly stores: string } | { readonly sends: true }

const STEPS: Readonly<Record<string, Step>> = {
  'the signature is stored': { stores: 'payout_signatures' },
  'a node takes the transaction': { sends: true },
  'the payments of a block are stored': { stores: 'outgoing_transfers' },
  'the ledger is posted': { stores: 'ledger_journals' },
}
const CELLS = NETWORKS.flatMap((network) =>
  Object.keys(STEPS).flatMap((step) =>
    (['before', 'after'] as const).map((moment) => ({ network, step, moment })),
  ),
)

let world: PayoutWorld
let proxy: CommitProxy
let through: { readonly DATABASE_URL: string }
const paid: OwedOrder[] = []
beforeAll(async () => {
  world = await startPayoutWorld(1)
  const url = new URL(world.url)
  proxy = await startCommitProxy({ host: url.hostname, port: Number(url.port || 5432) })
  url.searchParams.delete('host')
  url.port = String(proxy.port)
  through = { DATABASE_URL: url.href }
})
afterAll(async () => {
  await proxy?.stop()
  await world?.stop()
})

/** Resolves when the worker waits at the step. */
const reached = (step: Step, moment: Moment, network: Network): Promise<unknown> =>
  'stores' in step
    ? proxy.holdCommit(moment, step.stores)
    : Promise.race(world.relaysOf(network).map((relay) => relay.holdSend(moment)))

const areCompared = async (): Promise<boolean> => {
  const guards = await world.db.selectFrom('payout_guards').select('compared_at').execute()
  return guards.length === NETWORKS.length && guards.every(({ compared_at }) => compared_at !== null)
}

/** Fails when the step is never reached. */
async function killAt({ network, step, moment }: (typeof CELLS)[number], owed: readonly OwedOrder[]) {
  const worker = await world.worker(through)
  try {
    await until('all networks are paid on', areCompared, LONG)
    let isReached = false
    void reached(STEPS[step] as Step, moment, network).then(() => {
      isReached = true
    })
    await requestPayouts(world.ledger, owed)
    await until(`the worker is ${moment} ${step}`, async () => isReached, LONG)
  } finally {
    // By SIGKILL.
    await worker.stop()
  }
}

test.for(CELLS)(
  '$network: a worker killed $moment $step: each payout is made once',
  {
    timeout: 900_000,
  },
  async (cell) => {
    const all = await newOwedPayouts(world, `cell-${CELLS.indexOf(cell)}`)
    const owed = all.filter(({ network }) => network === cell.network)
    await killAt(cell, owed)
    paid.push(...owed)
    await withWorker(world.ledger, () => untilFinal(world, world.ledger, owed))
    await expectPaidOnce(world, paid)
    await expectLedgerMatchesChains(world, world.ledger)
    expect(await counterDrift(world.db)).toEqual([])
  },
)

import { setTimeout } from 'node:timers/promises'
import { countPending } from '@market/core/approvals'
import { queueMetrics } from '@market/core/queue'
import { findBacklog } from '@market/core/statistics'
import { listSwitches } from '@market/core/switches'
import { countDropped } from '@market/identity/webhooks'
import { SECOND } from '@market/kernel/clock'
import { NETWORKS } from '@market/kernel/network'
import { countUnmatched } from '@market/money/payments'
import { findAliveUntil, findWaitingPayouts } from '@market/money/payouts'
import { getSolvency } from '@market/reserves/snapshots'
import { findDisputes } from '@market/trade/orders'
import { countContests, gasMetrics } from '@market/trade/x402'
import { type HandlerContext, handler } from './handler.ts'
import { type OverviewFacts, presentOverview } from './present-overview.ts'

/**
 * Each module reads its own tables, and every query stops at a fixed number of rows. One after the other, so that the
 * overview takes one connection of the pool.
 */
async function readOverview(ctx: HandlerContext): Promise<OverviewFacts> {
  const gas = readGas(ctx)
  return {
    at: ctx.clock.now(),
    networks: NETWORKS.filter((network) => ctx.chains[network] !== undefined),
    disputes: await findDisputes(ctx),
    contests: await countContests(ctx),
    payouts: await findWaitingPayouts(ctx),
    unmatched: await countUnmatched(ctx),
    dropped: await countDropped(ctx),
    reserves: await getSolvency(ctx),
    jobs: await queueMetrics(ctx),
    statistics: await findBacklog(ctx),
    approvals: await countPending(ctx),
    switches: await listSwitches(ctx),
    alive: await findAliveUntil(ctx.db),
    gas: await gas,
  }
}

/** An operator needs the overview most while a network does not respond, so it does not wait for its nodes. */
const GAS_WAIT_MS = 3 * SECOND

const readGas = ({ facilitators }: HandlerContext): Promise<OverviewFacts['gas']> =>
  Promise.all(
    Object.values(facilitators).map(async (facilitator) => {
      const { network } = facilitator
      const read = gasMetrics({ facilitators: { [network]: facilitator } })
      const [metrics] = (await Promise.race([read, setTimeout(GAS_WAIT_MS, undefined, { ref: false })])) ?? []
      return metrics ?? { network }
    }),
  )

export const overviewHandlers = {
  getOverview: handler('getOverview', {
    run: readOverview,
    present: (facts) => ({ data: presentOverview(facts) }),
  }),
}

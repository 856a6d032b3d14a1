import type { ResponseOf } from '@market/contract/define'
import { type OperationId, type Operations, operations } from '@market/contract/operations'
import type { PendingApprovals } from '@market/core/approvals'
import type { QueueMetrics } from '@market/core/queue'
import type { StatisticsBacklog } from '@market/core/statistics'
import type { SwitchState } from '@market/core/switches'
import type { DroppedDeliveries } from '@market/identity/webhooks'
import { MINUTE, SECOND } from '@market/kernel/clock'
import { formatUsd, plus, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { COUNT_LIMIT, type WaitingMoney } from '@market/kernel/waiting'
import type { WaitingUnmatched } from '@market/money/payments'
import type { AliveUntil } from '@market/money/payouts'
import { needsOperator, type WaitingPayouts } from '@market/money/payouts'
import type { NetworkSolvency } from '@market/reserves/snapshots'
import type { Dispute } from '@market/trade/orders'
import { FEW_SETTLEMENTS, type GasMetrics } from '@market/trade/x402'
import { presentSwitch } from './present-switch.ts'

type Overview = ResponseOf<Operations['getOverview']>['data']
type Block = Overview['waiting'][number]

export interface OverviewFacts {
  readonly at: Date
  /** The networks that this marketplace uses. */
  readonly networks: readonly Network[]
  readonly disputes: readonly Dispute[]
  readonly contests: { readonly count: number; readonly forArbiter: number; readonly oldest: Date | null }
  readonly payouts: readonly WaitingPayouts[]
  readonly unmatched: readonly WaitingUnmatched[]
  readonly dropped: readonly DroppedDeliveries[]
  /** Without a balance where the nodes did not respond. */
  readonly gas: readonly (Pick<GasMetrics, 'network'> & Partial<GasMetrics>)[]
  readonly reserves: readonly Pick<NetworkSolvency, 'newest'>[]
  readonly jobs: QueueMetrics
  readonly statistics: StatisticsBacklog
  readonly approvals: PendingApprovals
  readonly switches: readonly SwitchState[]
  readonly alive: AliveUntil
}

const LISTED_ORDERS = 20
const LISTED_AGENTS = 10
/** `job_queue_metrics` counts up to this number of jobs. */
const JOBS_LIMIT = 10_000

/** A worker that runs starts a job within a second and moves figures every 5 seconds. */
const LATE_SECONDS = 60
/** A snapshot is taken every 30 seconds. */
const OLD_SNAPSHOT_SECONDS = (5 * MINUTE) / SECOND

export function presentOverview(facts: OverviewFacts): Overview {
  const { at, disputes, contests, unmatched, dropped, jobs, statistics, approvals, switches, alive } = facts
  const held = facts.payouts.filter(({ state }) => state === 'held')
  const failed = facts.payouts.filter(({ state }) => state === 'failed')
  const blocks = {
    disputes: {
      ...counted(disputes.length),
      networks: disputesByNetwork(disputes).map(presentMoney),
      order_ids: disputes.slice(0, LISTED_ORDERS).map(({ id }) => id),
      acts: actsOf('getOrder', 'resolveDispute', 'createApproval'),
    },
    contests: {
      ...counted(contests.count),
      for_arbiter: contests.forArbiter,
      oldest_at: contests.oldest?.toISOString() ?? null,
      acts: actsOf('listContests', 'resolveDispute', 'resolveRegistration'),
    },
    held_payouts: {
      ...counted(total(held)),
      groups: held.map((group) => {
        const hold_code = group.holdCode ?? 'other'
        return { ...presentMoney(group), hold_code, needs_operator: needsOperator(hold_code) }
      }),
      acts: actsOf('listPayouts', 'createApproval', 'turnSwitch'),
    },
    failed_payouts: {
      ...counted(total(failed)),
      groups: failed.map((group) => ({ ...presentMoney(group), hold_code: group.holdCode })),
      acts: actsOf('listPayouts', 'retryAnyPayout', 'createApproval'),
    },
    unmatched_transfers: {
      count: total(unmatched),
      at_least: unmatched.some(({ count }) => count >= COUNT_LIMIT),
      groups: unmatched.map((group) => ({ ...presentMoney(group), kind: group.kind })),
      acts: actsOf('listUnmatched', 'refundTransfer', 'recognizeTransfer', 'createApproval'),
    },
    dropped_webhooks: {
      ...counted(total(dropped)),
      agents: dropped.length,
      most: dropped.slice(0, LISTED_AGENTS).map(({ agentId, count }) => ({ agent_id: agentId, count })),
      acts: actsOf('getAgent'),
    },
    gas: { networks: facts.gas.map(presentGas), acts: [] },
    reserves: {
      networks: facts.networks.map((network) => presentReserves(facts, network)),
      acts: actsOf('getTreasury', 'listUnexplained', 'writeOffTransfer', 'createApproval', 'turnSwitch'),
    },
    jobs: {
      count: jobs.waiting,
      at_least: jobs.waiting + jobs.running >= JOBS_LIMIT,
      oldest_seconds: Math.floor(jobs.oldestSeconds),
      failing: jobs.failing,
      acts: [],
    },
    statistics: {
      ...counted(statistics.changes),
      oldest_seconds: Math.floor(statistics.oldestSeconds),
      acts: [],
    },
    approvals: {
      ...counted(approvals.count),
      oldest_at: approvals.oldest?.toISOString() ?? null,
      next_expiry_at: approvals.nextExpiry?.toISOString() ?? null,
      acts: actsOf('listApprovals', 'approveApproval', 'rejectApproval'),
    },
    switches: {
      on: switches.filter(({ onSince }) => onSince !== null).map((state) => presentSwitch(state, alive)),
      acts: actsOf('listSwitches', 'turnSwitch'),
    },
  } satisfies Omit<Overview, 'at' | 'waiting'>
  return { at: at.toISOString(), waiting: waitingIn(blocks), ...blocks }
}

/** Whether each block needs an operator. A surplus that is left is too small to send; dropped webhooks are not sent again. */
function waitingIn(blocks: Omit<Overview, 'at' | 'waiting'>): Block[] {
  const needs: Readonly<Record<Block, boolean>> = {
    disputes: blocks.disputes.count > 0,
    contests: blocks.contests.for_arbiter > 0,
    held_payouts: blocks.held_payouts.groups.some(({ needs_operator }) => needs_operator),
    failed_payouts: blocks.failed_payouts.count > 0,
    unmatched_transfers: blocks.unmatched_transfers.groups.some(({ kind }) => kind === 'suspense'),
    dropped_webhooks: false,
    gas: blocks.gas.networks.some(({ settlements_left: left }) => left === null || left < FEW_SETTLEMENTS),
    reserves: blocks.reserves.networks.some(
      ({ solvent, age_seconds }) => solvent !== true || (age_seconds ?? 0) > OLD_SNAPSHOT_SECONDS,
    ),
    jobs: blocks.jobs.failing > 0 || blocks.jobs.oldest_seconds > LATE_SECONDS,
    statistics: blocks.statistics.oldest_seconds > LATE_SECONDS,
    approvals: blocks.approvals.count > 0,
    switches: blocks.switches.on.length > 0,
  }
  return (Object.keys(needs) as Block[]).filter((block) => needs[block])
}

const counted = (count: number) => ({ count, at_least: count >= COUNT_LIMIT })

const total = (groups: readonly { readonly count: number }[]): number =>
  groups.reduce((sum, { count }) => sum + count, 0)

const actsOf = (...ids: readonly OperationId[]) =>
  ids.map((id) => {
    const { method, path } = operations[id]
    return { operation: id, method, path }
  })

const presentMoney = ({ network, count, amount, oldest }: WaitingMoney) => ({
  network,
  count,
  amount_usd: formatUsd(amount),
  oldest_at: oldest.toISOString(),
})

/** The disputes are sorted, so the first of a network is its oldest. */
const disputesByNetwork = (disputes: readonly Dispute[]): WaitingMoney[] =>
  [...Map.groupBy(disputes, ({ network }) => network)].map(([network, those]) => ({
    network,
    count: those.length,
    amount: those.reduce((sum, { price }) => plus(sum, price), ZERO),
    oldest: those[0]?.updatedAt ?? new Date(0),
  }))

const presentGas = ({ network, balance, settlementsLeft }: OverviewFacts['gas'][number]) => ({
  network,
  balance: balance?.toString() ?? null,
  settlements_left: settlementsLeft ?? null,
  few_below: FEW_SETTLEMENTS,
})

function presentReserves({ at, reserves }: OverviewFacts, network: Network) {
  const newest = reserves.find((one) => one.newest.network === network)?.newest
  if (newest === undefined)
    return { network, checked_at: null, age_seconds: null, shortfall_usd: null, solvent: null }
  return {
    network,
    checked_at: newest.takenAt.toISOString(),
    age_seconds: Math.max(0, Math.floor((at.getTime() - newest.takenAt.getTime()) / SECOND)),
    shortfall_usd: formatUsd(newest.short),
    solvent: newest.short === 0n,
  }
}

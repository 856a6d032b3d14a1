import type { Needs } from '@market/core/context'
import { type Usdc, ZERO } from '@market/kernel/money'
import { NETWORKS, type Network } from '@market/kernel/network'
import { NETWORK_SCOPE } from './counters/counters.ts'
import { findCounted } from './counters/store.ts'
import { findGuards } from './guards/store.ts'
import type { HoldCode } from './hold.ts'
import { closedBy, type Guard } from './outgoing/guard.ts'
import { countByNetwork, countHeldByCode, type NetworkCounts } from './reports/store.ts'

/** The payouts of one network, for operators and alerts. */
export interface PayoutMetrics {
  readonly network: Network
  /** False for a network that no worker has compared with its chain yet. */
  readonly isGuarded: boolean
  /** Whether payouts may be authorized. Emergency switches are not part of this. */
  readonly isOpen: boolean
  /** Since when all outgoing transfers of earlier database epochs are known; null while they are not. */
  readonly comparedAt: Date | null
  /** By how much the treasury holds less than it owes. */
  readonly short: Usdc
  readonly shortSince: Date | null
  /** Requested and not ended. */
  readonly waiting: number
  /** The age of the oldest that nothing holds: a hold can last for ever. */
  readonly oldestSeconds: number
  readonly held: number
  readonly failed: number
  /** Payouts that neither the ledger nor an order justifies. Anything but zero means a bug or forged rows. */
  readonly unjustified: number
}

/** What payouts cost and what holds them, for alerts. */
export interface PayoutLimitMetrics {
  readonly network: Network
  /** The native coin that payouts cost in the last 24 to 25 hours, in wei or lamports. */
  readonly nativeSpent: bigint
  /** How many payouts each reason holds. */
  readonly heldBy: Readonly<Partial<Record<HoldCode, number>>>
}

/** One entry per network. */
export async function payoutLimitMetrics(ctx: Needs<'db' | 'clock'>): Promise<PayoutLimitMetrics[]> {
  const held = await countHeldByCode(ctx.db)
  const now = ctx.clock.now()
  return Promise.all(
    NETWORKS.map(async (network) => ({
      network,
      nativeSpent: (await findCounted(ctx.db, network, [NETWORK_SCOPE], now)).native,
      heldBy: Object.fromEntries(
        held.filter((one) => one.network === network).map(({ code, count }) => [code, count]),
      ),
    })),
  )
}

/** One entry per network. Reads the payouts that are under way or failed, not those that have ended. */
export async function payoutMetrics(ctx: Needs<'db' | 'clock'>): Promise<PayoutMetrics[]> {
  const [guards, counts] = await Promise.all([findGuards(ctx.db), countByNetwork(ctx.db)])
  const now = ctx.clock.now()
  return NETWORKS.map((network) => {
    const isOf = (one: { readonly network: Network }) => one.network === network
    return metricsOf(network, guards.find(isOf), counts.find(isOf), now)
  })
}

const metricsOf = (
  network: Network,
  guard: Guard | undefined,
  counts: NetworkCounts | undefined,
  now: Date,
): PayoutMetrics => ({
  network,
  isGuarded: guard !== undefined,
  isOpen: closedBy(guard) === undefined,
  comparedAt: guard?.comparedAt ?? null,
  short: guard?.short ?? ZERO,
  shortSince: guard?.shortSince ?? null,
  waiting: counts?.waiting ?? 0,
  oldestSeconds: secondsBetween(counts?.oldest ?? now, now),
  held: counts?.held ?? 0,
  failed: counts?.failed ?? 0,
  unjustified: counts?.unjustified ?? 0,
})

const secondsBetween = (from: Date, to: Date): number =>
  Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1_000))

import type { Needs } from '@market/core/context'
import { listSwitches, payoutSwitches } from '@market/core/switches'
import { type Usdc, usdc, ZERO } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { balanceOf, fees, totals } from '../ledger/index.ts'
import {
  availableFees,
  type PayoutMetrics,
  payoutMetrics,
  sumMovingToCold,
  sumWithdrawnFees,
} from '../payouts/index.ts'
import type { TreasurySettings } from './settings.ts'

export interface Treasury extends Omit<PayoutMetrics, 'isGuarded'> {
  /** Whether payouts may be authorized now: the guard is open and no emergency switch freezes them. */
  readonly isOpen: boolean
  /** What the ledger says that it holds, the most that it should hold, and what is above that. */
  readonly balance: Usdc
  readonly hotMax: Usdc | null
  readonly aboveHotMax: Usdc
  /** The cold address of the configuration, and what was moved to cold addresses. */
  readonly cold: { readonly address: string | null; readonly moved: Usdc }
  /** The platform's revenue, what of it can be withdrawn, and what was. */
  readonly fees: { readonly balance: Usdc; readonly available: Usdc; readonly withdrawn: Usdc }
}

/** The treasury and the payouts of every network, including networks that were never compared with their chain. */
export async function getTreasury(
  ctx: Needs<'db' | 'clock' | 'chains'> & { readonly treasury: Pick<TreasurySettings, 'hotMax'> },
): Promise<Treasury[]> {
  const on = new Set(
    (await listSwitches(ctx)).filter(({ onSince }) => onSince !== null).map(({ name }) => name),
  )
  const metrics = await payoutMetrics(ctx)
  const withdrawn = await sumWithdrawnFees(ctx.db)
  return Promise.all(
    metrics.map(async (one) => ({
      ...one,
      ...(await holdings(ctx, one.network)),
      isOpen: one.isOpen && !payoutSwitches(one.network).some((name) => on.has(name)),
      fees: {
        balance: usdc(await balanceOf(ctx.db, fees(one.network))),
        available: await availableFees(ctx.db, one.network),
        withdrawn: withdrawn.find(({ network }) => network === one.network)?.amount ?? ZERO,
      },
    })),
  )
}

async function holdings(
  { db, chains, treasury }: Parameters<typeof getTreasury>[0],
  network: Network,
): Promise<Pick<Treasury, 'balance' | 'hotMax' | 'aboveHotMax' | 'cold'>> {
  const { treasuryView, coldView } = await totals(db, network)
  const hotMax = treasury.hotMax[network] ?? null
  const above = hotMax === null ? 0n : treasuryView - (await sumMovingToCold(db, network)) - hotMax
  return {
    balance: usdc(treasuryView),
    hotMax,
    aboveHotMax: usdc(above > 0n ? above : 0n),
    cold: { address: chains[network]?.cold ?? null, moved: usdc(coldView) },
  }
}

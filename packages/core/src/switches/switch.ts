import type { Network } from '@market/kernel/network'

/** What operators can stop at once, and what a caller is told while it is stopped. */
export const SWITCHES = {
  read_only: 'The marketplace is read-only for a moment; nothing was changed. Try again later.',
  freeze_intake:
    'No new registrations or orders are taken for a moment; nothing was changed. Try again later.',
  freeze_payouts: 'Payouts are held for a moment; what is owed is kept and will be paid.',
  freeze_payouts_solana: 'Payouts on Solana are held for a moment; what is owed is kept and will be paid.',
  freeze_payouts_base: 'Payouts on Base are held for a moment; what is owed is kept and will be paid.',
  freeze_payouts_alt: 'Payouts on alt-mainnet are held for a moment; what is owed is kept and will be paid.',
} as const

export type SwitchName = keyof typeof SWITCHES

export interface SwitchState {
  readonly name: SwitchName
  readonly onSince: Date | null
  readonly changedAt: Date | null
  readonly changedBy: string | null
  readonly reason: string | null
}

const OF_NETWORK = {
  'solana-mainnet': 'freeze_payouts_solana',
  'base-mainnet': 'freeze_payouts_base',
  'alt-mainnet': 'freeze_payouts_alt',
} as const satisfies Record<Network, SwitchName>

/** What holds the payouts of one network. */
export const payoutSwitches = (network: Network): SwitchName[] => ['freeze_payouts', OF_NETWORK[network]]

export const isSwitch = (name: string): name is SwitchName => Object.hasOwn(SWITCHES, name)

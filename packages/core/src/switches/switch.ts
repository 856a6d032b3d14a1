import type { Network } from '@market/kernel/network'

/** The emergency switches, and the error message of a rejected request while one is on. */
export const SWITCHES = {
  read_only: 'The marketplace is temporarily read-only. Nothing was changed. Try again later.',
  freeze_intake:
    'New registrations and orders are temporarily stopped. Nothing was changed. Try again later.',
  freeze_payouts: 'Payouts are temporarily stopped. The amount stays owed and is paid later.',
  freeze_payouts_solana:
    'Payouts on solana-mainnet are temporarily stopped. The amount stays owed and is paid later.',
  freeze_payouts_base:
    'Payouts on base-mainnet are temporarily stopped. The amount stays owed and is paid later.',
  freeze_payouts_alt:
    'Payouts on alt-mainnet are temporarily stopped. The amount stays owed and is paid later.',
  freeze_wallets_solana:
    'Agent wallets on solana-mainnet are temporarily stopped. Nothing was sent. Try again later.',
  freeze_venues:
    'Transfers to and from venues are temporarily stopped. The amount stays where it is and is moved later.',
} as const

export type SwitchName = keyof typeof SWITCHES

export interface SwitchState {
  readonly name: SwitchName
  readonly onSince: Date | null
  readonly changedAt: Date | null
  readonly changedBy: string | null
  readonly reason: string | null
}

const PAYOUT_SWITCHES = {
  'solana-mainnet': 'freeze_payouts_solana',
  'base-mainnet': 'freeze_payouts_base',
  'alt-mainnet': 'freeze_payouts_alt',
} as const satisfies Record<Network, SwitchName>

/** The switches that stop the payouts of one network. */
export const payoutSwitches = (network: Network): SwitchName[] => ['freeze_payouts', PAYOUT_SWITCHES[network]]

/** Stops everything that server wallets sign, and exports. They exist on Solana only. */
export const WALLET_SWITCH = 'freeze_wallets_solana' satisfies SwitchName

/** Stops everything that venue wallets sign. */
export const VENUE_SWITCH = 'freeze_venues' satisfies SwitchName

export const isSwitch = (name: string): name is SwitchName => Object.hasOwn(SWITCHES, name)

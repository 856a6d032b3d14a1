import type { WalletChain } from '@market/core/ports/signatures'
import { HOUR, later } from '@market/kernel/clock'

/** Where an agent wants to be paid. */
export interface PayoutSettings {
  readonly payoutChain: WalletChain | null
  readonly payoutWallet: string | null
  readonly payoutAddressBase: string | null
}

/** Who asked for a change: the agent with its API key, or its owner. */
export type PayoutEditor = 'agent' | 'owner'

/** The complete settings after the change, not only what changes. */
export interface PendingPayout extends PayoutSettings {
  readonly since: Date
  readonly by: PayoutEditor
}

export interface PayoutState {
  readonly settings: PayoutSettings
  readonly pending: PendingPayout | null
}

export const NO_PAYOUT: PayoutState = {
  settings: { payoutChain: null, payoutWallet: null, payoutAddressBase: null },
  pending: null,
}

/** In this time the owner can cancel a change that somebody made with a leaked API key. */
export const PAYOUT_DELAY_MS = 24 * HOUR

/** The names of the settings in the API. */
const FIELDS = {
  payoutChain: 'payout_chain',
  payoutWallet: 'payout_wallet',
  payoutAddressBase: 'payout_address_base',
} as const satisfies Record<keyof PayoutSettings, string>
const KEYS = Object.keys(FIELDS) as (keyof PayoutSettings)[]

export const effectiveAt = ({ since }: Pick<PendingPayout, 'since'>): Date => later(since, PAYOUT_DELAY_MS)

/** The stored state as it is at this time: a pending change that is due has taken effect. */
export function payoutAt({ settings, pending }: PayoutState, now: Date): PayoutState {
  if (pending === null || now < effectiveAt(pending)) return { settings, pending }
  return { settings: settingsOf(pending), pending: null }
}

/** Where the agent is paid at this time. Whoever pays reads the settings here. */
export const payoutSettings = ({ payout }: { readonly payout: PayoutState }, now: Date): PayoutSettings =>
  payoutAt(payout, now).settings

/** The pending change of the agent, if it still waits. */
export const pendingPayout = (
  { payout }: { readonly payout: PayoutState },
  now: Date,
): PendingPayout | null => payoutAt(payout, now).pending

interface Request {
  readonly by: PayoutEditor
  readonly isOwned: boolean
  readonly now: Date
}

/**
 * A change is pending for 24 hours and replaces the pending one. Only while the agent has neither an owner nor a payout
 * address, the first value of a setting takes effect at once.
 */
export function changePayout(
  state: PayoutState,
  change: Partial<PayoutSettings>,
  { by, isOwned, now }: Request,
): PayoutState {
  const { settings, pending } = payoutAt(state, now)
  if (Object.keys(change).length === 0) return { settings, pending }
  const wanted = { ...settings, ...change }
  // fix: payout-change-waits
  const atOnce = isOwned || hasAddress(settings) ? settings : withFirstValues(settings, wanted)
  if (isSame(wanted, atOnce)) {
    // An agent that repeats its settings at every start does not cancel what its owner asked for.
    const isKept = by === 'agent' && pending?.by === 'owner'
    return { settings: atOnce, pending: isKept ? pending : null }
  }
  // The same change again does not wait longer.
  if (pending !== null && isSame(wanted, pending)) return { settings: atOnce, pending }
  return { settings: atOnce, pending: { ...wanted, since: now, by } }
}

/**
 * Applies the one pending setting that the owner names: by its new value, or by its field where the value is removed.
 * A setting that has the named value already stays. Undefined when nothing has or gets it.
 */
export function confirmSetting(state: PayoutState, named: string, now: Date): PayoutState | undefined {
  const { settings, pending } = payoutAt(state, now)
  const key =
    pending && KEYS.find((each) => pending[each] !== settings[each] && isNamed(pending, each, named))
  if (pending === null || key === null || key === undefined)
    return KEYS.some((each) => isNamed(settings, each, named)) ? { settings, pending } : undefined
  const confirmed = { ...settings, [key]: pending[key] }
  return { settings: confirmed, pending: isSame(confirmed, pending) ? null : pending }
}

export const cancelChange = (state: PayoutState, now: Date): PayoutState => ({
  settings: payoutAt(state, now).settings,
  pending: null,
})

/** A new API key, and settings that only the owner changes, end what somebody asked for with the old key. */
export function cancelChangeOfKey(state: PayoutState, now: Date): PayoutState {
  const at = payoutAt(state, now)
  return at.pending?.by === 'agent' ? { ...at, pending: null } : at
}

export const isSame = (a: PayoutSettings, b: PayoutSettings): boolean =>
  KEYS.every((key) => a[key] === b[key])

export const settingsOf = ({
  payoutChain,
  payoutWallet,
  payoutAddressBase,
}: PayoutSettings): PayoutSettings => ({ payoutChain, payoutWallet, payoutAddressBase })

/** Counts every network: otherwise a leaked API key could add an address on another one. */
const hasAddress = ({ payoutWallet, payoutAddressBase }: PayoutSettings): boolean =>
  payoutWallet !== null || payoutAddressBase !== null

const withFirstValues = (settings: PayoutSettings, wanted: PayoutSettings): PayoutSettings => ({
  payoutChain: settings.payoutChain ?? wanted.payoutChain,
  payoutWallet: settings.payoutWallet ?? wanted.payoutWallet,
  payoutAddressBase: settings.payoutAddressBase ?? wanted.payoutAddressBase,
})

/** EVM addresses are stored in lower case and named in any case. */
function isNamed(settings: PayoutSettings, key: keyof PayoutSettings, named: string): boolean {
  const value = settings[key]
  if (value === null) return named === FIELDS[key]
  return value === (named.startsWith('0x') ? named.toLowerCase() : named)
}

import { later } from '@market/kernel/clock'
import { NETWORKS, type Network } from '@market/kernel/network'
import { type Agent, hasOwner } from '../agent.ts'
import { payoutAddressOf } from './payout-address.ts'
import { PAYOUT_DELAY_MS, payoutAt } from './payout-settings.ts'

/** An address that the agent's row names. The role of the api can write that row. */
interface NamedAddress {
  readonly network: Network
  readonly address: string
  readonly isPending: boolean
}

/** An address in the worker's own table: it is paid from `effectiveAt` on. */
export interface PaidAddress {
  readonly network: Network
  readonly address: string
  readonly effectiveAt: Date
}

const NO_ADDRESS = { payoutWallet: null, payoutAddressBase: null }

/** The addresses that an agent's row and its server wallet name. The owner's wallet stays valid after an address was set. */
export function namedAddresses(agent: Agent, serverWallet: string | null, now: Date): NamedAddress[] {
  const { settings, pending } = payoutAt(agent.payout, now)
  const named = new Map<string, NamedAddress>()
  for (const network of NETWORKS) {
    const add = (address: string | null, isPending: boolean) => {
      const key = `${network}:${address}`
      if (address !== null && !named.has(key)) named.set(key, { network, address, isPending })
    }
    add(payoutAddressOf(settings, agent, network), false)
    add(payoutAddressOf(NO_ADDRESS, agent, network), false)
    if (network === 'solana-mainnet') add(serverWallet, false)
    if (pending !== null) add(payoutAddressOf(pending, agent, network), true)
  }
  return [...named.values()]
}

interface Seen {
  readonly agent: Agent
  readonly serverWallet: string | null
  readonly known: readonly PaidAddress[]
  /** Addresses for which the owner wallet signed, as the worker has verified. */
  readonly confirmed: readonly string[]
  readonly now: Date
}

interface Decision {
  /** To be stored: new addresses, and those that are confirmed before their 24 hours are over. */
  readonly recorded: readonly PaidAddress[]
  /** Those that are no longer named before their 24 hours are over. */
  readonly dropped: readonly PaidAddress[]
}

const isSame = (a: { network: Network; address: string }, b: { network: Network; address: string }) =>
  a.network === b.network && a.address === b.address

/**
 * When the worker pays the addresses that an agent's row names. At once: what the row names when the agent is seen first, within
 * seconds of its registration; the first address of an agent without an owner; the first address on a network, where nothing can
 * be due to the agent yet, because buyers are offered only networks with one; and what the owner wallet signed for. Everything else waits 24 hours from now, whatever the row says.
 */
export function decideAddresses({ agent, serverWallet, known, confirmed, now }: Seen): Decision {
  const named = namedAddresses(agent, serverWallet, now)
  const isFirst = known.length === 0
  const hasAddress = known.some(({ address }) => address !== serverWallet)
  const waitsFor = ({ address, network, isPending }: NamedAddress): boolean => {
    if (confirmed.includes(address)) return false
    const isFirstHere = !known.some((one) => one.network === network)
    // fix: address-waits-at-worker
    return isPending || !(isFirst || isFirstHere || (!hasOwner(agent) && !hasAddress))
  }
  const recorded = named
    .map((one) => ({ ...one, effectiveAt: waitsFor(one) ? later(now, PAYOUT_DELAY_MS) : now }))
    .filter((one) => {
      const before = known.find((other) => isSame(one, other))
      return before === undefined || (confirmed.includes(one.address) && one.effectiveAt < before.effectiveAt)
    })
  const dropped = known.filter(
    ({ effectiveAt, ...one }) => effectiveAt > now && !named.some((other) => isSame(one, other)),
  )
  return { recorded, dropped }
}

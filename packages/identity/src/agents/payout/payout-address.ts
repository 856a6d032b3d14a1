import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import type { Wallet } from '@market/core/ports/signatures'
import type { Db, Tx } from '@market/database/transact'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { Agent } from '../agent.ts'
import { saveAgent } from '../store.ts'
import { type PayoutSettings, payoutSettings } from './payout-settings.ts'

/** The owner wallet of an agent, and how it was proven. */
export type OwnerWallet = Pick<Agent, 'ownerWallet' | 'ownerProvenBy'>

const isEvm = (wallet: string): boolean => wallet.startsWith('0x')

/**
 * The address of an agent's settings on a network. `payout_address_base` names an address on Base, so it is not used on
 * another EVM network: there it can be a contract of someone else, or a deposit address that takes only Base. The owner's
 * wallet is used on every EVM network when its key signed, and otherwise only where it was proven.
 */
export function payoutAddressOf(
  { payoutWallet, payoutAddressBase }: Omit<PayoutSettings, 'payoutChain'>,
  wallet: OwnerWallet,
  network: Network,
): string | null {
  const { ownerWallet } = wallet
  if (network === 'solana-mainnet')
    return payoutWallet ?? (ownerWallet === null || isEvm(ownerWallet) ? null : ownerWallet)
  const owner = ownerWallet !== null && isEvm(ownerWallet) && isProvenOn(wallet, network) ? ownerWallet : null
  return network === 'base-mainnet' ? (payoutAddressBase ?? owner) : owner
}

/** Before it was recorded, contracts were asked on Base only. */
// fix: proven-network
const isProvenOn = ({ ownerProvenBy }: OwnerWallet, network: Network): boolean =>
  ownerProvenBy === 'key' || (ownerProvenBy ?? 'base-mainnet') === network

/** Where an agent is paid on a network: the address of its settings, on Solana else its custodial wallet. */
export async function payoutAddress(
  ctx: Needs<'clock'>,
  db: Db | Tx,
  agent: Agent,
  network: Network,
): Promise<string | null> {
  const address = payoutAddressOf(payoutSettings(agent, ctx.clock.now()), agent, network)
  if (address !== null || network !== 'solana-mainnet') return address
  return (await findWalletAddress(db, agent.id, 'solana')) ?? null
}

/** Those of the networks on which an agent can be paid. Only these are offered to buyers. */
export async function payableNetworks(
  ctx: Needs<'clock'>,
  db: Db | Tx,
  agent: Agent,
  networks: readonly Network[] = NETWORKS,
): Promise<Network[]> {
  const payable: Network[] = []
  for (const network of networks)
    if ((await payoutAddress(ctx, db, agent, network)) !== null) payable.push(network)
  return preferredFirst(payoutSettings(agent, ctx.clock.now()), payable)
}

/** An agent with the networks on which it can be paid. */
export interface PayableAgent {
  readonly agent: Agent
  readonly payableOn: readonly Network[]
}

export const withNetworks = async (ctx: Needs<'clock'>, tx: Tx, agent: Agent): Promise<PayableAgent> => ({
  agent,
  payableOn: await payableNetworks(ctx, tx, agent),
})

/** Networks of `payout_chain` come first: clients that can pay on several use the first one. */
export const preferredFirst = (
  { payoutChain }: Pick<PayoutSettings, 'payoutChain'>,
  networks: readonly Network[],
): Network[] =>
  payoutChain === 'base'
    ? networks.toSorted((a, b) => Number(a === 'solana-mainnet') - Number(b === 'solana-mainnet'))
    : [...networks]

/** What an agent without an address on a network can do. */
export function payoutAddressHint(network: Network): string {
  if (network === 'solana-mainnet') return 'Set payout_wallet.'
  if (network === 'base-mainnet') return 'Set payout_address_base.'
  return 'Only an EVM owner wallet that signs with its private key is paid there: sign POST /api/agents/recover with it.'
}

/** Records that the owner wallet signed with its key: from then on the agent can be paid on every EVM network. */
export async function recordOwnerKey(tx: Tx, agent: Agent, wallet: Wallet): Promise<Agent> {
  const isNew = agent.ownerWallet === wallet.key && wallet.provenBy === 'key' && agent.ownerProvenBy !== 'key'
  return isNew ? saveAgent(tx, agent.id, { owner_proven_by: 'key' }) : agent
}

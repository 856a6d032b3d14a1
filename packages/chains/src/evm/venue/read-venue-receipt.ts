import type { VenueMovement, VenueReceipt } from '@market/core/ports/venue'
import { unavailable } from '@market/kernel/api-error'
import { usdc as money } from '@market/kernel/money'
import { decodeEventLog, erc4626Abi, getAbiItem, type Hex, toEventSelector } from 'viem'
import type { Node, NodePool } from '../../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from '../evm-nodes.ts'
import { type Log, type Receipt, readBlock, readReceipt } from '../parse-rpc.ts'
import { callAll, callEach, resultOf } from '../rpc.ts'
import { addressKey, type EvmSettings } from '../settings.ts'
import { receivedTransfers, sentTransfers, total } from '../transfers.ts'
import type { Vault } from './vault-calls.ts'

const EVENTS = [
  toEventSelector(getAbiItem({ abi: erc4626Abi, name: 'Deposit' })),
  toEventSelector(getAbiItem({ abi: erc4626Abi, name: 'Withdraw' })),
]

/**
 * The receipt of a transaction in a final block of this node. A node that is behind may have it in a block that a reorganization
 * replaced, where the vault gave another number of shares.
 */
const receiptVia = async (
  { chainId, finalityTag }: EvmSettings,
  node: Node,
  reference: string,
): Promise<Receipt | undefined> => {
  const [response] = await callAll(node, chainId, [['eth_getTransactionReceipt', reference]])
  const receipt = readReceipt(response)
  if (receipt?.block === undefined) return undefined
  const { height, hash } = receipt.block
  const [canonical, final] = await callEach(node, chainId, [blockAt(height), blockAt(finalityTag)])
  // fix: receipt-is-final
  const isFinal = (readFinalBlock(final)?.height ?? -1n) >= height
  return isFinal && readBlock(resultOf(canonical))?.hash === hash ? receipt : undefined
}

const keyOf = ({ succeeded, block, logs }: Receipt): string =>
  JSON.stringify([succeeded, block?.hash, logs.map(({ address, topics, data }) => [address, topics, data])])

/** The receipt that as many providers as required show. */
const agreedReceipt = async (settings: EvmSettings, nodes: NodePool, reference: string): Promise<Receipt> => {
  const { network, minProviders } = settings
  const { responses, failures } = await nodes.queryProviders(
    (node) => receiptVia(settings, node, reference),
    minProviders,
  )
  const receipts = responses.flatMap(({ response }) => response ?? [])
  const agreed = [...Map.groupBy(receipts, keyOf).values()].find((same) => same.length >= minProviders)?.[0]
  if (agreed !== undefined) return agreed
  const names = responses.map(({ provider }) => provider).toSorted()
  throw unavailable(
    `Too few providers of ${network} show the same receipt of ${reference} (${names.join(', ')}). Try again later.`,
    new AggregateError(failures),
  )
}

interface VaultEvent extends VenueReceipt {
  readonly name: 'Deposit' | 'Withdraw'
}

/** The vault's only event in the receipt, if it is about the wallet and the treasury. */
const eventOf = (logs: readonly Log[], { vault, wallet, treasury }: Vault): VaultEvent | undefined => {
  const own = logs.filter(
    ({ address, topics: [kind = ''] }) => address === vault && EVENTS.includes(kind as Hex),
  )
  const [log, ...others] = own
  if (log === undefined || others.length > 0) return undefined
  const [signature, ...indexed] = log.topics as [Hex, ...Hex[]]
  const event = decodeEventLog({ abi: erc4626Abi, topics: [signature, ...indexed], data: log.data as Hex })
  if (event.eventName !== 'Deposit' && event.eventName !== 'Withdraw') return undefined
  const { sender, receiver, assets, shares } = event.args
  const holder = event.eventName === 'Deposit' ? receiver : event.args.owner
  const isOwn = [sender, holder].every((address) => addressKey(address) === wallet)
  const isExpected = event.eventName === 'Deposit' || addressKey(receiver) === treasury
  return isOwn && isExpected ? { name: event.eventName, assets: money(assets), shares } : undefined
}

/** How much of a token a transaction added to an address. Negative when it took some. */
const gained = (logs: readonly Log[], token: string, address: string): bigint =>
  total(receivedTransfers(logs, token, address, new Set([address])).external) -
  total(sentTransfers(logs, token, address))

/** What a transaction moved, whatever the vault says about it. */
export const readVenueMovement = async (
  settings: EvmSettings,
  nodes: NodePool,
  { vault, wallet, usdc, treasury }: Vault,
  reference: string,
): Promise<VenueMovement> => {
  const { logs } = await agreedReceipt(settings, nodes, reference)
  return { arrived: gained(logs, usdc, treasury), shares: gained(logs, vault, wallet) }
}

/**
 * What a deposit or a redemption did. A vault can write anything into its event, so the amount must be what the USDC contract says
 * that left the wallet or reached the treasury, and the shares those that the wallet got or gave.
 */
export const readVenueReceipt = async (
  settings: EvmSettings,
  nodes: NodePool,
  vault: Vault,
  reference: string,
): Promise<VenueReceipt> => {
  const { succeeded, logs } = await agreedReceipt(settings, nodes, reference)
  if (!succeeded) throw new Error(`${reference} failed on the chain`)
  const event = eventOf(logs, vault)
  if (event === undefined)
    throw new Error(`${reference} has no event of the vault ${vault.vault} about the wallet ${vault.wallet}`)
  const { name, assets, shares } = event
  const moved =
    name === 'Deposit' ? -gained(logs, vault.usdc, vault.wallet) : gained(logs, vault.usdc, vault.treasury)
  if (moved !== assets)
    throw new Error(
      `the vault ${vault.vault} reports ${assets} micro-USDC in ${reference}, but ${moved} were transferred`,
    )
  const burned = gained(logs, vault.vault, vault.wallet)
  if (burned !== (name === 'Deposit' ? shares : -shares))
    throw new Error(
      `the vault ${vault.vault} reports ${shares} shares in ${reference}, but ${burned} were transferred`,
    )
  return { assets, shares }
}

import { evmChain } from '@market/chains/evm/evm-chain'
import { evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { localEvmSigner } from '@market/chains/local-signers'
import type { Chain, FinalBlock, IncomingTransfer, ObservedOutgoingTransfer } from '@market/core/ports/chain'
import type {
  BatchFees,
  PayoutBatches,
  PayoutRequest,
  PayoutSender,
  SignedBatch,
  SignedPayout,
} from '@market/core/ports/payout-sender'
import { usdc } from '@market/kernel/money'
import { markOf } from '@market/kernel/payout-mark'
import type { EvmNetwork } from '@market/testing/evm-network'
import { toHex } from 'viem'
import { until } from '../support/until.ts'
import { newAccount, settingsFor } from './evm-world.ts'
import type { RpcCall } from './node-relay.ts'

type Changes = Parameters<typeof settingsFor>[2]

/** A funded treasury from which nothing went out, and a gas account that sends for it. */
export const treasuryWith = async (network: EvmNetwork, changes: Changes = {}) => {
  const [account, gas] = [newAccount(), newAccount()]
  await network.fund(account.address)
  await network.fund(gas.address)
  await network.mint(account.address, 1_000_000_000n)
  const settings = settingsFor(network, account.address, changes)
  const sender = evmPayoutSender(settings, localEvmSigner(account.key), [localEvmSigner(gas.key)])
  return { account, gas, settings, sender, chain: evmChain(settings) }
}

let payouts = 0
export const newPayout = (amount: bigint, to: string = newAccount().address): PayoutRequest => {
  payouts += 1
  const id = `pay_${String(payouts).padStart(32, '0')}`
  return { mark: markOf('base-mainnet', { id, markRound: 1 }), to, amount: usdc(amount) }
}

export const batchesOf = ({ batches }: PayoutSender): PayoutBatches => {
  if (batches === undefined) throw new Error('the sender has gas accounts')
  return batches
}

/** Sends what is signed from a gas account, by default the first one. */
export const submitSigned = async (
  sender: PayoutSender,
  payouts: readonly SignedPayout[],
  nonce: bigint,
  { outbid, from = 0 }: { readonly outbid?: BatchFees | undefined; readonly from?: number } = {},
): Promise<SignedBatch> => {
  const batches = batchesOf(sender)
  const account = batches.accounts[from] ?? ''
  const batch = await batches.sign({ account, nonce, payouts, outbid })
  await batches.send(batch)
  return batch
}

/** Signs and sends a payout alone. Without automatic mining it stays in the mempool. */
export const submit = async (
  sender: PayoutSender,
  payout: PayoutRequest,
  nonce: bigint,
  outbid?: BatchFees,
): Promise<SignedBatch> => submitSigned(sender, [await sender.sign(payout, 0)], nonce, { outbid })

export const payOut = async (
  network: EvmNetwork,
  sender: PayoutSender,
  payout: PayoutRequest,
  nonce: bigint,
): Promise<SignedBatch> => {
  const signed = await submit(sender, payout, nonce)
  await network.included(signed.reference as `0x${string}`)
  return signed
}

export interface Read {
  readonly incoming: readonly IncomingTransfer[]
  readonly outgoing: readonly ObservedOutgoingTransfer[]
  readonly position: string | null
}

export const references = (transfers: readonly { readonly reference: string }[]): string[] =>
  transfers.map(({ reference }) => reference)

export const newestAfter = async (
  chain: Chain,
  final: FinalBlock,
  position: string | null,
  limit: number,
) => {
  if (chain.movementsAfter === undefined) throw new Error(`${chain.network} reads only final blocks`)
  return chain.movementsAfter(final, position, limit)
}

/** Reads page by page to the newest block. */
export const readNewest = async (
  chain: Chain,
  { final, position = null }: { readonly final: FinalBlock; readonly position?: string | null },
  limit: () => number = () => 10,
): Promise<Read> => {
  const incoming: IncomingTransfer[] = []
  const outgoing: ObservedOutgoingTransfer[] = []
  let at = position
  for (;;) {
    const size = limit()
    const page = await newestAfter(chain, final, at, size)
    if (page === undefined) throw new Error('the node is behind')
    const transactions = new Set(references([...page.incoming, ...page.outgoing]))
    if (transactions.size > size) throw new Error(`the page has ${transactions.size} transactions`)
    incoming.push(...page.incoming)
    outgoing.push(...page.outgoing)
    at = page.position
    if (page.isEnd) return { incoming, outgoing, position: at }
  }
}

/** Everything after the block where a treasury's reading starts. */
export const readWhole = async (chain: Chain, limit?: () => number): Promise<Read> =>
  readNewest(chain, { final: await chain.startingBlock() }, limit)

/** Reads part by part to the last final block. */
export const readFinalBlocks = async (chain: Chain, from: FinalBlock) => {
  const incoming: IncomingTransfer[] = []
  const outgoing: ObservedOutgoingTransfer[] = []
  let to = from
  for (;;) {
    const { agreed, isEnd, disagreeing } = await chain.finalMovementsAfter(to)
    if (disagreeing.length > 0) throw new Error(`${disagreeing.join(', ')} disagree`)
    incoming.push(...(agreed?.incoming ?? []))
    outgoing.push(...(agreed?.outgoing ?? []))
    to = agreed?.to ?? to
    if (isEnd) return { incoming, outgoing, to }
  }
}

export const blockOf = async (network: EvmNetwork, height: bigint | 'latest' | 'finalized') => {
  const tag = typeof height === 'bigint' ? toHex(height) : height
  const block = (await network.rpc('eth_getBlockByNumber', [tag, false])) as Record<string, string>
  return {
    height: BigInt(block['number'] ?? ''),
    hash: String(block['hash']),
    at: new Date(Number(block['timestamp']) * 1_000),
  }
}

/** The block and the status of a transaction; undefined when no block contains it. */
export const placeOf = async (network: EvmNetwork, reference: string): Promise<string | undefined> => {
  const receipt = (await network.rpc('eth_getTransactionReceipt', [reference])) as {
    blockHash: string
  } | null
  return receipt?.blockHash
}

/** Removes the newest blocks, so that the next block replaces the lowest of them. */
export const removeNewest = async (network: EvmNetwork, blocks: number): Promise<void> => {
  await network.reorg(blocks)
  if (blocks > 1) await network.rpc('anvil_rollback', [blocks])
}

export const mined = (network: EvmNetwork, { reference }: Pick<SignedBatch, 'reference'>) =>
  until('it is in a block', async () => (await placeOf(network, reference)) !== undefined)

/** The responses of a node at this height. */
export const stuckAt =
  (height: bigint) =>
  ({ method, params }: RpcCall, result: unknown): unknown => {
    if (method === 'eth_blockNumber') return toHex(height)
    const [first] = params
    if (method === 'eth_getBlockByNumber' && typeof first === 'string' && first.startsWith('0x'))
      return BigInt(first) > height ? null : result
    if (method === 'eth_getLogs')
      return (result as readonly { blockNumber: string }[]).filter((log) => BigInt(log.blockNumber) <= height)
    return result
  }

/** A node that returns no logs for more than so many blocks, or when the range is refused for another reason. */
export const isLargerRange =
  (most: bigint) =>
  ({ method, params }: RpcCall): boolean => {
    const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, string>
    return method === 'eth_getLogs' && BigInt(toBlock ?? 0) - BigInt(fromBlock ?? 0) >= most
  }

/** The methods that were called since, without the check of the chain, which a node is asked once a minute. */
export const callsSince = (methods: readonly string[], since: number): string[] =>
  methods.slice(since).filter((method) => method !== 'eth_chainId')

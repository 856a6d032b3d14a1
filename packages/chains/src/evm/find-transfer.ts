import type { IncomingTransfer, Observation, RecordedTransfer, TransferQuery } from '@market/core/ports/chain'
import { byFit } from '@market/core/ports/transfer-fit'
import { usdc as money } from '@market/kernel/money'
import { larger } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import type { TransferReport } from '../nodes/providers.ts'
import { attachedDataOf } from './attached-data.ts'
import { blockAt, readBlockAt, readFinalBlock } from './evm-nodes.ts'
import {
  type Block,
  quantity,
  type Receipt,
  readBlockHashes,
  readReceipt,
  readTransaction,
} from './parse-rpc.ts'
import { type Call, callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, blocksFor, type EvmSettings, ownKeys } from './settings.ts'
import {
  hasAuthorization,
  type ReceivedTransfer,
  type ReceivedTransfers,
  receivedTransfers,
  total,
} from './transfers.ts'

type Pending = Extract<Observation, { kind: 'pending' }>['reason']
type Rejected = Extract<Observation, { kind: 'rejected' }>['reason']

const pending = (reason: Pending): Observation => ({ kind: 'pending', reason })
const rejected = (reason: Rejected, detail?: string): Observation =>
  detail === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, detail }

/** Lower case, so that each transaction is stored under one hash. */
export const normalizeHash = (reference: string): string | undefined =>
  /^0x[0-9a-fA-F]{64}$/.test(reference) ? reference.toLowerCase() : undefined

/** A mined transaction as one node shows it. */
interface Mined {
  readonly reference: string
  readonly receipt: Receipt
  readonly sender: string
  readonly attachedData: string | null
  readonly block: Pick<Block, 'height' | 'hash' | 'at'>
}

const timeOf = ({ blockTime }: EvmSettings, { at }: Pick<Block, 'at'>): Date => blockTime?.(at) ?? at

/** Chooses one of the transaction's transfers to the treasury, or says why none is accepted. Pure. */
type Choose = (received: ReceivedTransfers, mined: Mined) => ReceivedTransfer | Observation

/** Whether another account executed the payment for the payer, with an authorization or from one of our accounts. */
const isSentForPayer = (settings: EvmSettings, { receipt, sender }: Mined): boolean =>
  hasAuthorization(receipt.logs, addressKey(settings.usdc)) ||
  ownKeys(settings).has(sender) ||
  (settings.gasAccounts ?? []).some((account) => addressKey(account) === sender)

const chooseFor =
  (settings: EvmSettings, query: TransferQuery): Choose =>
  ({ external, hasOwn }, mined) => {
    if (external.length === 0) return rejected(hasOwn ? 'own_transfer' : 'no_transfer')
    // A vault may pay from another contract than its own, so the sender of the transaction counts too.
    if (settings.ownPayers?.includes(mined.sender)) return rejected('own_transfer')
    if (query.sentByPayer && isSentForPayer(settings, mined)) return rejected('sent_by_another')
    const allowed = query.payers === undefined ? undefined : new Set(query.payers.map(addressKey))
    // Nobody knows which of the transfers a caller means who only names the transaction.
    // fix: ambiguous-payer-signs
    if (allowed === undefined && new Set(external.map(({ payer }) => payer)).size > 1)
      return rejected('ambiguous_payer')
    const eligible = external.filter(
      ({ payer, index }) =>
        (allowed === undefined || (payer !== null && allowed.has(payer))) &&
        (query.index === undefined || query.index === index),
    )
    const [chosen] = eligible.toSorted(byFit(query))
    if (chosen === undefined)
      return rejected(
        'wrong_payer',
        [...new Set(external.map(({ payer }) => payer ?? 'newly issued'))].join(', '),
      )
    const { amount } = chosen
    const at = timeOf(settings, mined.block)
    if (amount < query.minAmount) return rejected('underpaid', `${amount} of ${query.minAmount} micro-USDC`)
    if (at < query.notBefore) return rejected('too_old', at.toISOString())
    if (at > query.notAfter) return rejected('too_new', at.toISOString())
    return chosen
  }

const chooseByIndex =
  (index: number): Choose =>
  ({ external }) =>
    external.find((transfer) => transfer.index === index) ?? rejected('no_transfer')

/** What one node shows of a transaction. */
interface Inspection {
  readonly observation: Observation
  readonly finalHeight: bigint
  /** The block that contains the transaction. Undefined when no block does. */
  readonly includedAt?: bigint
}

/** The newest block, and the newest final one. */
interface Heights {
  readonly head: bigint
  readonly finalHeight: bigint
}

/** Where the heights are known, the receipt alone: the transaction is undefined then, not null. */
const ask = async ({ chainId, finalityTag }: EvmSettings, node: Node, hash: string, known?: Heights) => {
  const others: Call[] = [['eth_getTransactionByHash', hash], ['eth_blockNumber'], blockAt(finalityTag)]
  const [receipt, transaction, head, final] = await callEach(node, chainId, [
    ['eth_getTransactionReceipt', hash],
    ...(known === undefined ? others : []),
  ])
  const shown = known ?? {
    transaction: readTransaction(resultOf(transaction)) ?? null,
    head: quantity(resultOf(head)),
    finalHeight: readFinalBlock(final)?.height ?? -1n,
  }
  return { receipt: readReceipt(resultOf(receipt)), transaction: undefined, ...shown }
}

/** Queries one node once. Where the heights are known, its block is asked for only when it decides. */
const inspect = async (
  settings: EvmSettings,
  node: Node,
  hash: string,
  choose: Choose,
  known?: Heights,
): Promise<Inspection> => {
  const { receipt, transaction, finalHeight, head } = await ask(settings, node, hash, known)
  const notIncluded = (reason: Pending): Inspection => ({ observation: pending(reason), finalHeight })
  if (receipt === undefined) return notIncluded(transaction ? 'in_mempool' : 'unknown')
  if (receipt.block === undefined) return notIncluded('unconfirmed')

  const { height, hash: blockHash } = receipt.block
  const observeIn = (block: Mined['block']): Inspection => {
    const inBlock = (observation: Observation) => ({ observation, finalHeight, includedAt: height })
    if (!receipt.succeeded) return inBlock(rejected('failed_on_chain'))
    const sender = transaction?.from ?? receipt.sender
    // The attached data decides what the transfer pays for, so the transaction is required.
    if (transaction === null || sender === undefined)
      throw new Error('the node has the receipt but not the transaction')
    const isToToken = transaction?.to === addressKey(settings.usdc)
    const attachedData = isToToken ? attachedDataOf(transaction.input) : null
    const mined = { reference: hash, receipt, sender, attachedData, block }
    return inBlock(observe(settings, choose, mined, { head, finalHeight }))
  }
  const at = receipt.logs[0]?.at
  const shown = known && at && observeIn({ height, hash: blockHash, at })
  // Nothing else is decided by a block that may have been replaced.
  if (shown?.observation.kind === 'pending') return shown
  const block = await readBlockAt(node, settings.chainId, height)
  // Some nodes return receipts of a block that is still being built, or that a reorganization replaced.
  if (block?.hash !== blockHash) return notIncluded(block === undefined ? 'unconfirmed' : 'reorg')
  return observeIn(block)
}

const observe = (settings: EvmSettings, choose: Choose, mined: Mined, heights: Heights): Observation => {
  const asset = addressKey(settings.usdc)
  const { reference, receipt, attachedData, block } = mined
  const { head, finalHeight } = heights
  const received = receivedTransfers(receipt.logs, asset, addressKey(settings.treasury), ownKeys(settings))
  const chosen = choose(received, mined)
  if ('kind' in chosen) return chosen
  const final = finalHeight >= block.height
  // By the amount of the whole transaction: many small transfers are reversed together.
  const needed = blocksFor(settings.confirmations, total(received.external))
  const depth = larger(head, block.height) - block.height + 1n
  const isConfirmed = needed === 'final' ? final : depth >= BigInt(needed)
  if (!isConfirmed && !final)
    return {
      kind: 'pending',
      reason: 'unconfirmed',
      depth: {
        confirmations: Number(depth),
        required: needed === 'final' ? null : needed,
        height: block.height,
      },
    }
  const transfer: IncomingTransfer = {
    reference,
    index: chosen.index,
    amount: money(chosen.amount),
    payer: chosen.payer,
    at: timeOf(settings, block),
    block: { height: block.height, hash: block.hash },
    final,
    attachedData,
  }
  return { kind: 'ok', transfer, ...(received.external.length > 1 && { hasOthers: true }) }
}

/** As one node shows it. It makes a transfer final only where one provider is enough. */
export const observeTransfer = async (
  settings: EvmSettings,
  node: Node,
  hash: string,
  query: TransferQuery,
  known?: Heights,
): Promise<Observation> => {
  const { observation } = await inspect(settings, node, hash, chooseFor(settings, query), known)
  return observation.kind === 'ok'
    ? { ...observation, transfer: withFinality(settings, observation.transfer) }
    : observation
}

/** A transfer that one node reported. */
export const withFinality = <T extends { readonly final: boolean }>(
  { minProviders }: Pick<EvmSettings, 'minProviders'>,
  transfer: T,
): T => ({ ...transfer, final: transfer.final && minProviders === 1 })

/** How one node reports a recorded transfer. */
export const checkTransferOnNode = async (
  settings: EvmSettings,
  node: Node,
  { reference, index, block, payer, amount }: RecordedTransfer,
): Promise<TransferReport> => {
  const { observation, includedAt, finalHeight } = await inspect(
    settings,
    node,
    reference,
    chooseByIndex(index),
  )
  if (includedAt !== undefined) {
    const isSame =
      observation.kind === 'pending' ||
      (observation.kind === 'ok' &&
        observation.transfer.amount === amount &&
        observation.transfer.payer === payer)
    return { observation, isAbsent: finalHeight >= includedAt && !isSame }
  }
  if (finalHeight < block.height) return { observation, isAbsent: false }
  const [atHeight] = await callAll(node, settings.chainId, [blockAt(block.height)])
  const hashes = readBlockHashes(atHeight)
  return { observation, isAbsent: hashes !== undefined && !hashes.includes(reference) }
}

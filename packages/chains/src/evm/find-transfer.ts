import type { IncomingTransfer, Observation, RecordedTransfer, TransferQuery } from '@market/core/ports/chain'
import { EVER, FOREVER } from '@market/kernel/clock'
import { usdc as money } from '@market/kernel/money'
import type { Node } from '../nodes/node-pool.ts'
import type { TransferReport } from '../nodes/providers.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import {
  type Block,
  quantity,
  type Receipt,
  readBlock,
  readBlockHashes,
  readReceipt,
  readTransaction,
  type Transaction,
} from './parse-rpc.ts'
import { callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, blocksFor, type EvmSettings, ownKeys } from './settings.ts'
import { attachedDataOf } from './sign-transfer.ts'
import { hasAuthorization, receivedTransfers, solePayer, total } from './transfers.ts'

type Pending = Extract<Observation, { kind: 'pending' }>['reason']
type Rejected = Extract<Observation, { kind: 'rejected' }>['reason']

const pending = (reason: Pending): Observation => ({ kind: 'pending', reason })
const rejected = (reason: Rejected, detail?: string): Observation =>
  detail === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, detail }

/** Lower case, so that each transaction is stored under one hash. */
export const normalizeHash = (reference: string): string | undefined =>
  /^0x[0-9a-fA-F]{64}$/.test(reference) ? reference.toLowerCase() : undefined

interface MinedReceipt extends Receipt {
  readonly block: NonNullable<Receipt['block']>
}

interface View {
  readonly hash: string
  readonly transaction: Transaction
  readonly head: bigint
  readonly finalHeight: bigint
}

/** Whether another account executed the payment for the payer, with an authorization or from one of our accounts. */
const isSentForPayer = (settings: EvmSettings, { logs }: Receipt, { from }: Transaction): boolean =>
  hasAuthorization(logs, addressKey(settings.usdc)) ||
  ownKeys(settings).has(from) ||
  (settings.gasAccounts ?? []).some((account) => addressKey(account) === from)

/** Compares the transaction with the query. Pure: uses neither the clock nor the chain. */
const matchTransfer = (
  settings: EvmSettings,
  query: TransferQuery,
  receipt: MinedReceipt,
  block: Block,
  view: View,
): Observation => {
  const asset = addressKey(settings.usdc)
  const own = ownKeys(settings)
  const { external, hasOwn } = receivedTransfers(receipt.logs, asset, addressKey(settings.treasury), own)
  if (external.length === 0) return rejected(hasOwn ? 'own_transfer' : 'no_transfer')
  if (query.sentByPayer && isSentForPayer(settings, receipt, view.transaction))
    return rejected('sent_by_another')

  const allowed = query.payers === undefined ? undefined : new Set(query.payers.map(addressKey))
  const eligible = external.filter(
    ({ payer }) => allowed === undefined || (payer !== null && allowed.has(payer)),
  )
  if (eligible.length === 0)
    return rejected(
      'wrong_payer',
      [...new Set(external.map(({ payer }) => payer ?? 'newly issued'))].join(', '),
    )
  const payer = query.severalPayers ? (solePayer(eligible) ?? null) : solePayer(eligible)
  if (payer === undefined) return rejected('ambiguous_payer')

  const amount = total(eligible)
  if (amount < query.minAmount) return rejected('underpaid', `${amount} of ${query.minAmount} micro-USDC`)
  if (block.at < query.notBefore) return rejected('too_old', block.at.toISOString())
  if (block.at > query.notAfter) return rejected('too_new', block.at.toISOString())

  const final = view.finalHeight >= block.height
  const needed = blocksFor(settings.confirmations, amount)
  const isConfirmed = needed === 'final' ? final : view.head - block.height + 1n >= BigInt(needed)
  if (!isConfirmed && !final) return pending('unconfirmed')
  const transfer: IncomingTransfer = {
    reference: view.hash,
    amount: money(amount),
    payer,
    at: block.at,
    block: { height: block.height, hash: block.hash },
    final,
    attachedData: view.transaction.to === asset ? attachedDataOf(view.transaction.input) : null,
  }
  return { kind: 'ok', transfer }
}

/** What one node shows of a transaction. */
interface Inspection {
  readonly observation: Observation
  readonly finalHeight: bigint
  /** The block that contains the transaction, and what it sent to the treasury. Undefined when no block does. */
  readonly included?: { readonly height: bigint; readonly total: bigint }
}

/** Queries one node once. */
const inspect = async (
  settings: EvmSettings,
  node: Node,
  hash: string,
  query: TransferQuery,
): Promise<Inspection> => {
  const { chainId, finalityTag } = settings
  const [receiptResponse, transactionResponse, headResponse, finalResponse] = await callEach(node, chainId, [
    ['eth_getTransactionReceipt', hash],
    ['eth_getTransactionByHash', hash],
    ['eth_blockNumber'],
    blockAt(finalityTag),
  ])
  const receipt = readReceipt(resultOf(receiptResponse))
  const finalHeight = readFinalBlock(finalResponse)?.height ?? -1n
  const notIncluded = (reason: Pending): Inspection => ({ observation: pending(reason), finalHeight })
  if (receipt === undefined)
    return notIncluded(resultOf(transactionResponse) === null ? 'unknown' : 'in_mempool')
  if (receipt.block === undefined) return notIncluded('unconfirmed')

  const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
  const block = readBlock(canonical)
  // Some nodes return receipts of a block that is still being built.
  if (block === undefined) return notIncluded('unconfirmed')
  // The block of this receipt was replaced by a reorganization.
  if (block.hash !== receipt.block.hash) return notIncluded('reorg')
  const inBlock = (observation: Observation): Inspection => ({
    observation,
    finalHeight,
    included: { height: block.height, total: receivedIn(settings, receipt) },
  })
  if (!receipt.succeeded) return inBlock(rejected('failed_on_chain'))

  const transaction = readTransaction(resultOf(transactionResponse))
  // The attached data decides what the transfer pays for, so the transaction is required.
  if (transaction === undefined) throw new Error('the node has the receipt but not the transaction')
  const view = {
    hash,
    transaction,
    head: quantity(resultOf(headResponse)),
    finalHeight,
  }
  return inBlock(matchTransfer(settings, query, { ...receipt, block: receipt.block }, block, view))
}

const receivedIn = (settings: EvmSettings, { logs }: Receipt): bigint =>
  total(
    receivedTransfers(logs, addressKey(settings.usdc), addressKey(settings.treasury), ownKeys(settings))
      .external,
  )

/** As one node shows it. Only where one provider is enough, its word makes a transfer final. */
export const observeTransfer = async (
  settings: EvmSettings,
  node: Node,
  hash: string,
  query: TransferQuery,
): Promise<Observation> => {
  const { observation } = await inspect(settings, node, hash, query)
  return observation.kind === 'ok'
    ? { kind: 'ok', transfer: withFinality(settings, observation.transfer) }
    : observation
}

/** A transfer that one node reported. */
export const withFinality = <T extends { readonly final: boolean }>(
  { minProviders }: Pick<EvmSettings, 'minProviders'>,
  transfer: T,
): T => ({ ...transfer, final: transfer.final && minProviders === 1 })

const ANY = { minAmount: money(1n), notBefore: EVER, notAfter: FOREVER }

/** What one node says about a recorded transfer. */
export const sightTransfer = async (
  settings: EvmSettings,
  node: Node,
  { reference, block, payer, amount }: RecordedTransfer,
): Promise<TransferReport> => {
  const whose = payer === null ? { severalPayers: true as const } : { payers: [payer] }
  const query = { reference, ...ANY, ...whose }
  const { observation, included, finalHeight } = await inspect(settings, node, reference, query)
  if (included !== undefined) {
    const isSame =
      observation.kind === 'pending' ||
      (observation.kind === 'ok' && (amount === null || observation.transfer.amount === amount))
    return { observation, total: included.total, isAbsent: finalHeight >= included.height && !isSame }
  }
  if (finalHeight < block.height) return { observation, total: null, isAbsent: false }
  const [atHeight] = await callAll(node, settings.chainId, [blockAt(block.height)])
  const hashes = readBlockHashes(atHeight)
  return { observation, total: null, isAbsent: hashes !== undefined && !hashes.includes(reference) }
}

import type { IncomingTransfer, Observation, TransferQuery } from '@market/core/ports/chain'
import { usdc as money } from '@market/kernel/money'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import {
  type Block,
  quantity,
  type Receipt,
  readBlock,
  readReceipt,
  readTransaction,
  type Transaction,
} from './read-answer.ts'
import { callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, blocksFor, type EvmSettings, ownKeys } from './settings.ts'
import { attachedTo } from './sign-transfer.ts'
import { arrivalsIn, hasAuthorization, onePayer, total } from './transfers.ts'

type Pending = Extract<Observation, { kind: 'pending' }>['reason']
type Rejected = Extract<Observation, { kind: 'rejected' }>['reason']

const pending = (reason: Pending): Observation => ({ kind: 'pending', reason })
const rejected = (reason: Rejected, detail?: string): Observation =>
  detail === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, detail }

/** The stored form: one transaction has one spelling. */
export const normalizeHash = (reference: string): string | undefined =>
  /^0x[0-9a-fA-F]{64}$/.test(reference) ? reference.toLowerCase() : undefined

interface Sealed extends Receipt {
  readonly block: NonNullable<Receipt['block']>
}

interface View {
  readonly hash: string
  readonly transaction: Transaction
  readonly head: bigint
  readonly finalHeight: bigint
}

/** Whether the payment was brought to the chain for the payer: by an authorization that anybody can carry, or by us. */
const isSentForPayer = (settings: EvmSettings, { logs }: Receipt, { from }: Transaction): boolean =>
  hasAuthorization(logs, addressKey(settings.usdc)) ||
  ownKeys(settings).has(from) ||
  (settings.gasAccounts ?? []).some((account) => addressKey(account) === from)

/** What the question asks for, held against what the transaction did. No clock and no chain in here. */
const judge = (
  settings: EvmSettings,
  question: TransferQuery,
  receipt: Sealed,
  block: Block,
  view: View,
): Observation => {
  const asset = addressKey(settings.usdc)
  const own = ownKeys(settings)
  const { foreign, hasOwn } = arrivalsIn(receipt.logs, asset, addressKey(settings.treasury), own)
  if (foreign.length === 0) return rejected(hasOwn ? 'own_transfer' : 'no_transfer')
  if (question.sentByPayer && isSentForPayer(settings, receipt, view.transaction))
    return rejected('sent_by_another')

  const allowed = question.payers === undefined ? undefined : new Set(question.payers.map(addressKey))
  const eligible = foreign.filter(
    ({ payer }) => allowed === undefined || (payer !== null && allowed.has(payer)),
  )
  if (eligible.length === 0)
    return rejected(
      'wrong_payer',
      [...new Set(foreign.map(({ payer }) => payer ?? 'newly issued'))].join(', '),
    )
  const payer = onePayer(eligible)
  if (payer === undefined) return rejected('ambiguous_payer')

  const amount = total(eligible)
  if (amount < question.minAmount)
    return rejected('underpaid', `${amount} of ${question.minAmount} micro-USDC`)
  if (block.at < question.notBefore) return rejected('too_old', block.at.toISOString())
  if (block.at > question.notAfter) return rejected('too_new', block.at.toISOString())

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
    attachedData: view.transaction.to === asset ? attachedTo(view.transaction.input) : null,
  }
  return { kind: 'ok', transfer }
}

/** One look through one node. It decides nothing about when to look again. */
export const lookForTransfer = async (
  settings: EvmSettings,
  node: Node,
  hash: string,
  question: TransferQuery,
): Promise<Observation> => {
  const { chainId, finalityTag } = settings
  const [receiptAnswer, transactionAnswer, headAnswer, finalAnswer] = await callEach(node, chainId, [
    ['eth_getTransactionReceipt', hash],
    ['eth_getTransactionByHash', hash],
    ['eth_blockNumber'],
    blockAt(finalityTag),
  ])
  const receipt = readReceipt(resultOf(receiptAnswer))
  if (receipt === undefined) return pending(resultOf(transactionAnswer) === null ? 'unknown' : 'in_mempool')
  if (receipt.block === undefined) return pending('unconfirmed')

  const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
  const block = readBlock(canonical)
  // A receipt that was handed out before its block was sealed.
  if (block === undefined) return pending('unconfirmed')
  // A receipt from a block that lost its place.
  if (block.hash !== receipt.block.hash) return pending('reorg')
  if (!receipt.succeeded) return rejected('failed_on_chain')

  const transaction = readTransaction(resultOf(transactionAnswer))
  // What the payer wrote beside the payment binds it, so a node that does not know it cannot tell of the payment.
  if (transaction === undefined) throw new Error('the node has the receipt but not the transaction')
  const view = {
    hash,
    transaction,
    head: quantity(resultOf(headAnswer)),
    finalHeight: readFinalBlock(finalAnswer)?.height ?? -1n,
  }
  return judge(settings, question, { ...receipt, block: receipt.block }, block, view)
}

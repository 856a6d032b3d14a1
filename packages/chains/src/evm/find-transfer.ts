import { usdc as money } from '@market/kernel/money'
import type { Look, SeenTransfer, TransferQuestion } from '@market/market/ports/chain'
import type { Node } from '../nodes/node-pool.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { type Block, quantity, type Receipt, readBlock, readReceipt } from './read-answer.ts'
import { callAll, callEach, resultOf } from './rpc.ts'
import { addressKey, blocksFor, type EvmSettings, ownKeys } from './settings.ts'
import { arrivalsIn, onePayer, total } from './transfers.ts'

type Pending = Extract<Look, { kind: 'pending' }>['why']
type Rejected = Extract<Look, { kind: 'rejected' }>['why']

const pending = (why: Pending): Look => ({ kind: 'pending', why })
const rejected = (why: Rejected, detail?: string): Look =>
  detail === undefined ? { kind: 'rejected', why } : { kind: 'rejected', why, detail }

/** The stored form: one transaction has one spelling. */
export const normalizeHash = (reference: string): string | undefined =>
  /^0x[0-9a-fA-F]{64}$/.test(reference) ? reference.toLowerCase() : undefined

interface Sealed extends Receipt {
  readonly block: NonNullable<Receipt['block']>
}

interface View {
  readonly hash: string
  readonly head: bigint
  readonly finalHeight: bigint
}

/** What the question asks for, held against what the transaction did. No clock and no chain in here. */
const judge = (
  settings: EvmSettings,
  question: TransferQuestion,
  receipt: Sealed,
  block: Block,
  view: View,
): Look => {
  const { foreign, hasOwn } = arrivalsIn(
    receipt.logs,
    addressKey(settings.usdc),
    addressKey(settings.treasury),
    ownKeys(settings),
  )
  if (foreign.length === 0) return rejected(hasOwn ? 'own_transfer' : 'no_transfer')

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
  if (amount < question.atLeast) return rejected('underpaid', `${amount} of ${question.atLeast} micro-USDC`)
  if (block.at < question.notBefore) return rejected('too_old', block.at.toISOString())
  if (block.at > question.notAfter) return rejected('too_new', block.at.toISOString())

  const final = view.finalHeight >= block.height
  const needed = blocksFor(settings.confirmations, amount)
  const isConfirmed = needed === 'final' ? final : view.head - block.height + 1n >= BigInt(needed)
  if (!isConfirmed && !final) return pending('unconfirmed')
  const transfer: SeenTransfer = {
    reference: view.hash,
    amount: money(amount),
    payer,
    at: block.at,
    block: { height: block.height, hash: block.hash },
    final,
  }
  return { kind: 'ok', transfer }
}

/** One look through one node. It decides nothing about when to look again. */
export const lookForTransfer = async (
  settings: EvmSettings,
  node: Node,
  hash: string,
  question: TransferQuestion,
): Promise<Look> => {
  const { chainId, finalityTag } = settings
  const [receiptAnswer, transaction, headAnswer, finalAnswer] = await callEach(node, chainId, [
    ['eth_getTransactionReceipt', hash],
    ['eth_getTransactionByHash', hash],
    ['eth_blockNumber'],
    blockAt(finalityTag),
  ])
  const receipt = readReceipt(resultOf(receiptAnswer))
  if (receipt === undefined) return pending(resultOf(transaction) === null ? 'unknown' : 'in_mempool')
  if (receipt.block === undefined) return pending('unconfirmed')

  const [canonical] = await callAll(node, chainId, [blockAt(receipt.block.height)])
  const block = readBlock(canonical)
  // A receipt that was handed out before its block was sealed.
  if (block === undefined) return pending('unconfirmed')
  // A receipt from a block that lost its place.
  if (block.hash !== receipt.block.hash) return pending('reorg')
  if (!receipt.succeeded) return rejected('failed_on_chain')

  const view = {
    hash,
    head: quantity(resultOf(headAnswer)),
    finalHeight: readFinalBlock(finalAnswer)?.height ?? -1n,
  }
  return judge(settings, question, { ...receipt, block: receipt.block }, block, view)
}

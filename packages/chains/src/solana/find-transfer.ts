import type { IncomingTransfer, Observation, TransferQuery } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { isSignature, type Signature } from '@solana/kit'
import type { SolanaRpc } from './nodes.ts'
import {
  attachedTo,
  fetchTransaction,
  isOwn,
  payerOf,
  readUsdcChange,
  type TreasuryAccount,
} from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'

const BASE58_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

/** Base58 tells upper from lower case, so a signature is kept exactly as it is. */
export const parseSignature = (reference: string): Signature | undefined =>
  BASE58_SIGNATURE.test(reference) && isSignature(reference) ? reference : undefined

type Rejection = Extract<Observation, { kind: 'rejected' }>['reason']
const rejected = (reason: Rejection, detail?: string): Observation =>
  detail === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, detail }
const pending = (reason: Extract<Observation, { kind: 'pending' }>['reason']): Observation => ({
  kind: 'pending',
  reason,
})

/** Undefined where the node does not have the block (yet). */
export const blockOf = async (
  rpc: SolanaRpc,
  slot: bigint,
): Promise<IncomingTransfer['block'] | undefined> => {
  const block = await rpc
    .getBlock(slot, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 1,
      rewards: false,
      transactionDetails: 'none',
    })
    .send()
  return block === null ? undefined : { height: slot, hash: block.blockhash }
}

/** Why a transfer at this time does not answer the question. */
const untimely = (at: Date, { notBefore, notAfter }: TransferQuery): Observation | undefined => {
  if (at < notBefore) return rejected('too_old', at.toISOString())
  if (at > notAfter) return rejected('too_new', at.toISOString())
  return undefined
}

/** One look. The status comes first: it tells what is unknown or failed from what only this node does not hold. */
export const findTransfer = async (
  rpc: SolanaRpc,
  settings: SolanaSettings,
  treasury: TreasuryAccount,
  own: ReadonlySet<string>,
  question: TransferQuery,
): Promise<Observation> => {
  const signature = parseSignature(question.reference)
  if (signature === undefined) return rejected('bad_reference')
  const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
  const [status] = value
  if (status === null || status === undefined) return pending('unknown')
  const final = status.confirmationStatus === 'finalized'
  if (!final && status.confirmationStatus !== 'confirmed') return pending('unconfirmed')
  if (status.err !== null) return rejected('failed_on_chain')

  const transaction = await fetchTransaction(rpc, signature)
  if (transaction === null || transaction.blockTime === null) return pending('unconfirmed')
  const change = readUsdcChange(transaction, treasury)
  if (change === undefined) return pending('unconfirmed')
  if (isOwn(change, own)) return rejected('own_transfer')
  if (change.gained <= 0n) return rejected('no_transfer')
  const [feePayer = ''] = change.signers
  if (question.sentByPayer && settings.gasAccounts?.includes(feePayer)) return rejected('sent_by_another')
  const amount = usdc(change.gained)

  const payer = payerOf(change, question.payers)
  if (payer.kind === 'several') return rejected('ambiguous_payer', [...change.losses.keys()].join(', '))
  const key = payer.kind === 'one' ? payer.key : null
  if (question.payers !== undefined && (key === null || !question.payers.includes(key))) {
    return rejected('wrong_payer', key ?? 'nobody who signed paid')
  }
  if (amount < question.minAmount) return rejected('underpaid', String(amount))
  const at = new Date(Number(transaction.blockTime) * 1_000)
  const outOfTime = untimely(at, question)
  if (outOfTime !== undefined) return outOfTime
  if (!final && settings.commitment(amount) === 'finalized') return pending('unconfirmed')

  const block = await blockOf(rpc, transaction.slot)
  if (block === undefined) return pending('unconfirmed')
  const attachedData = attachedTo(transaction)
  return {
    kind: 'ok',
    transfer: { reference: signature, amount, payer: key, at, block, final, attachedData },
  }
}

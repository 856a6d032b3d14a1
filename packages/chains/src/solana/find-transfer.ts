import type { IncomingTransfer, Observation, TransferQuery } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { isSignature, type Signature } from '@solana/kit'
import type { SolanaRpc } from './nodes.ts'
import {
  attachedDataOf,
  fetchTransaction,
  isOwnTransfer,
  payerOf,
  readUsdcChange,
  type TreasuryAccount,
} from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'

const BASE58_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/

/** Base58 is case-sensitive, so the signature is not changed. */
export const parseSignature = (reference: string): Signature | undefined =>
  BASE58_SIGNATURE.test(reference) && isSignature(reference) ? reference : undefined

type Rejection = Extract<Observation, { kind: 'rejected' }>['reason']
const rejected = (reason: Rejection, detail?: string): Observation =>
  detail === undefined ? { kind: 'rejected', reason } : { kind: 'rejected', reason, detail }
const pending = (reason: Extract<Observation, { kind: 'pending' }>['reason']): Observation => ({
  kind: 'pending',
  reason,
})

/** Undefined when the node does not have the block yet. */
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

/** The rejection of a transfer outside the time range of the query. */
const timeRejection = (at: Date, { notBefore, notAfter }: TransferQuery): Observation | undefined => {
  if (at < notBefore) return rejected('too_old', at.toISOString())
  if (at > notAfter) return rejected('too_new', at.toISOString())
  return undefined
}

/** Reads the status first. It distinguishes unknown and failed transactions from those that this node does not store. */
export const findTransfer = async (
  rpc: SolanaRpc,
  settings: SolanaSettings,
  treasury: TreasuryAccount,
  own: ReadonlySet<string>,
  query: TransferQuery,
): Promise<Observation> => {
  const signature = parseSignature(query.reference)
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
  if (isOwnTransfer(change, own)) return rejected('own_transfer')
  if (change.treasuryChange <= 0n) return rejected('no_transfer')
  const [feePayer = ''] = change.signers
  if (query.sentByPayer && settings.gasAccounts?.includes(feePayer)) return rejected('sent_by_another')
  const amount = usdc(change.treasuryChange)

  const payer = payerOf(change, query.payers)
  if (payer.kind === 'several') return rejected('ambiguous_payer', [...change.losses.keys()].join(', '))
  const key = payer.kind === 'one' ? payer.key : null
  if (query.payers !== undefined && (key === null || !query.payers.includes(key))) {
    return rejected('wrong_payer', key ?? 'no signer paid')
  }
  if (amount < query.minAmount) return rejected('underpaid', String(amount))
  const at = new Date(Number(transaction.blockTime) * 1_000)
  const rejectedTime = timeRejection(at, query)
  if (rejectedTime !== undefined) return rejectedTime
  if (!final && settings.commitment(amount) === 'finalized') return pending('unconfirmed')

  const block = await blockOf(rpc, transaction.slot)
  if (block === undefined) return pending('unconfirmed')
  const attachedData = attachedDataOf(transaction)
  return {
    kind: 'ok',
    transfer: { reference: signature, amount, payer: key, at, block, final, attachedData },
  }
}

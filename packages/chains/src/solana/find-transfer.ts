import type { IncomingTransfer, Observation, RecordedTransfer, TransferQuery } from '@market/core/ports/chain'
import { EVER, FOREVER } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { isSignature, type Signature } from '@solana/kit'
import type { TransferReport } from '../nodes/providers.ts'
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

/** The marketplace's time of a block, whose own time is in Unix seconds. */
export const timeOf = ({ blockTime }: Pick<SolanaSettings, 'blockTime'>, seconds: bigint): Date => {
  const at = new Date(Number(seconds) * 1_000)
  return blockTime?.(at) ?? at
}

/** The rejection of a transfer outside the time range of the query. */
const timeRejection = (at: Date, { notBefore, notAfter }: TransferQuery): Observation | undefined => {
  if (at < notBefore) return rejected('too_old', at.toISOString())
  if (at > notAfter) return rejected('too_new', at.toISOString())
  return undefined
}

/** The addresses that decide what a transaction means for the treasury. */
interface Accounts {
  readonly treasury: TreasuryAccount
  readonly own: ReadonlySet<string>
}

/** `acceptsUnknownPayer`: the recorded transfer has no single payer, so several are accepted. */
interface Query extends TransferQuery {
  readonly acceptsUnknownPayer?: boolean
}

interface Inspection {
  readonly observation: Observation
  /** Whether the node has the transaction at all, and in a final block. */
  readonly found: 'no' | 'yes' | 'final'
}

/** Reads the status first. It distinguishes unknown and failed transactions from those that this node does not store. */
const inspect = async (
  rpc: SolanaRpc,
  settings: SolanaSettings,
  accounts: Accounts,
  query: Query,
): Promise<Inspection> => {
  const signature = parseSignature(query.reference)
  if (signature === undefined) return { observation: rejected('bad_reference'), found: 'no' }
  const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
  const [status] = value
  if (status === null || status === undefined) return { observation: pending('unknown'), found: 'no' }
  const final = status.confirmationStatus === 'finalized'
  const found = final ? 'final' : 'yes'
  if (!final && status.confirmationStatus !== 'confirmed')
    return { observation: pending('unconfirmed'), found }
  if (status.err !== null) return { observation: rejected('failed_on_chain'), found }
  return { observation: await readTransfer(rpc, settings, accounts, query, { signature, final }), found }
}

/** A transaction that succeeded. */
const readTransfer = async (
  rpc: SolanaRpc,
  settings: SolanaSettings,
  { treasury, own }: Accounts,
  query: Query,
  { signature, final }: { readonly signature: Signature; readonly final: boolean },
): Promise<Observation> => {
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
  if (payer.kind === 'several' && query.acceptsUnknownPayer !== true)
    return rejected('ambiguous_payer', [...change.losses.keys()].join(', '))
  const key = payer.kind === 'one' ? payer.key : null
  if (query.payers !== undefined && (key === null || !query.payers.includes(key))) {
    return rejected('wrong_payer', key ?? 'no signer paid')
  }
  if (amount < query.minAmount) return rejected('underpaid', String(amount))
  const at = timeOf(settings, transaction.blockTime)
  const rejectedTime = timeRejection(at, query)
  if (rejectedTime !== undefined) return rejectedTime
  if (!final && settings.commitment(amount) === 'finalized') return pending('unconfirmed')

  const block = await blockOf(rpc, transaction.slot)
  if (block === undefined) return pending('unconfirmed')
  const attachedData = attachedDataOf(transaction)
  return {
    kind: 'ok',
    transfer: { reference: signature, index: 0, amount, payer: key, at, block, final, attachedData },
  }
}

/** As one node shows it. It makes a transfer final only where one provider is enough. */
export const findTransfer = async (
  rpc: SolanaRpc,
  settings: SolanaSettings,
  treasury: TreasuryAccount,
  own: ReadonlySet<string>,
  query: TransferQuery,
): Promise<Observation> => {
  const { observation } = await inspect(rpc, settings, { treasury, own }, query)
  if (observation.kind !== 'ok') return observation
  const { transfer } = observation
  return { kind: 'ok', transfer: { ...transfer, final: transfer.final && settings.minProviders === 1 } }
}

/** Whether the final chain of this node has no such transaction in this slot. A pruned history shows nothing. */
const isAbsentFrom = async (rpc: SolanaRpc, slot: bigint, reference: string): Promise<boolean> => {
  if ((await rpc.getFirstAvailableBlock().send()) > slot) return false
  const [found] = await rpc.getBlocks(slot, slot, { commitment: 'finalized' }).send()
  if (found === undefined) return true
  const block = await rpc
    .getBlock(slot, {
      commitment: 'finalized',
      maxSupportedTransactionVersion: 1,
      rewards: false,
      transactionDetails: 'signatures',
    })
    .send()
  return block !== null && !block.signatures.some((signature) => signature === reference)
}

const ANY = { minAmount: usdc(1n), notBefore: EVER, notAfter: FOREVER }

/** How one node reports a recorded transfer. */
export const checkTransferOnNode = async (
  rpc: SolanaRpc,
  settings: SolanaSettings,
  accounts: Accounts,
  { reference, block, payer, amount }: RecordedTransfer,
): Promise<TransferReport> => {
  // Read before the transaction, which may become final in between.
  const { absoluteSlot: finalSlot } = await rpc.getEpochInfo({ commitment: 'finalized' }).send()
  const whose = payer === null ? { acceptsUnknownPayer: true } : { payers: [payer] }
  const { observation, found } = await inspect(rpc, settings, accounts, { reference, ...ANY, ...whose })
  if (found === 'no') {
    const isAbsent = finalSlot >= block.height && (await isAbsentFrom(rpc, block.height, reference))
    return { observation, isAbsent }
  }
  const isSame =
    observation.kind === 'pending' || (observation.kind === 'ok' && observation.transfer.amount === amount)
  return { observation, isAbsent: found === 'final' && !isSame }
}

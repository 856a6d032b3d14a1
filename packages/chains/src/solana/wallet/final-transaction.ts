import { type Address, getBase58Encoder } from '@solana/kit'
import { parseSignature } from '../find-transfer.ts'
import type { SolanaRpc } from '../nodes.ts'
import { fetchTransaction, type Transaction } from '../read-transfer.ts'

type TransactionMeta = NonNullable<Transaction['meta']>

const base58 = getBase58Encoder()

interface FinalTransaction {
  readonly transaction: Transaction['transaction']
  readonly meta: TransactionMeta
}

/** A finalized transaction that succeeded, as one node has it, or why there is none. */
export const fetchFinal = async (
  rpc: SolanaRpc,
  reference: string,
): Promise<FinalTransaction | 'not_found' | 'not_final' | 'failed'> => {
  const signature = parseSignature(reference)
  if (signature === undefined) return 'not_found'
  const { value } = await rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()
  const [status] = value
  if (status === null || status === undefined) return 'not_found'
  if (status.confirmationStatus !== 'finalized') return 'not_final'
  if (status.err !== null) return 'failed'
  const found = await fetchTransaction(rpc, signature)
  // The node has the status of the transaction before the transaction itself.
  if (found === null || found.meta === null) return 'not_final'
  return { transaction: found.transaction, meta: found.meta }
}

/** All accounts of a transaction in the order of its indexes, with those of lookup tables. */
export const accountsOf = (
  { accountKeys }: Transaction['transaction']['message'],
  { loadedAddresses }: TransactionMeta,
): readonly Address[] => {
  const { writable = [], readonly = [] } = loadedAddresses ?? {}
  return [...accountKeys, ...writable, ...readonly]
}

export interface ExecutedInstruction {
  readonly program: Address | undefined
  readonly accounts: readonly (Address | undefined)[]
  readonly data: Buffer
}

/** With those of inner calls, by which launchpads create mints. */
export const instructionsOf = (
  { message }: Transaction['transaction'],
  meta: TransactionMeta,
): ExecutedInstruction[] => {
  const keys = accountsOf(message, meta)
  const inner = (meta.innerInstructions ?? []).flatMap(({ instructions }) => instructions)
  return [...message.instructions, ...inner].map(({ programIdIndex, accounts, data }) => ({
    program: keys[programIdIndex],
    accounts: accounts.map((index) => keys[index]),
    data: Buffer.from(base58.encode(data)),
  }))
}

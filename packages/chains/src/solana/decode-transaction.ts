import { createHash } from 'node:crypto'
import {
  type Address,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  type Transaction,
  verifySignature,
} from '@solana/kit'
import { parseWallet } from '../signatures/parse-wallet.ts'

export interface DecodedInstruction {
  readonly program: Address
  readonly accounts: readonly Address[]
  readonly data: Uint8Array
}

/** A transaction whose accounts are all in its message. */
export interface DecodedTransaction {
  readonly wire: Transaction
  readonly base64: string
  /** SHA-256 of the message, which does not depend on the signatures. */
  readonly hash: string
  /** The required signers, with the fee payer first. */
  readonly signers: readonly Address[]
  readonly instructions: readonly DecodedInstruction[]
}

/** Why a text is not a transaction that can be checked. */
export type Undecodable = 'unreadable' | 'version' | 'lookup_tables'

/** Maximum size of a Solana transaction. */
const MAX_BYTES = 1_232
const MAX_BASE64_LENGTH = Math.ceil(MAX_BYTES / 3) * 4
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const base64 = getBase64Encoder()
const wireDecoder = getTransactionDecoder()
const messageDecoder = getCompiledTransactionMessageDecoder()
const messageEncoder = getCompiledTransactionMessageEncoder()

const decode = (text: string): DecodedTransaction | Undecodable => {
  const wire = wireDecoder.decode(base64.encode(text))
  const message = messageDecoder.decode(wire.messageBytes)
  // Newer versions set fees in another way, and lookup tables hide which accounts are used.
  if (message.version !== 'legacy' && message.version !== 0) return 'version'
  if ('addressTableLookups' in message && (message.addressTableLookups ?? []).length > 0)
    return 'lookup_tables'
  // Requires the canonical encoding, so that each transaction has exactly one hash.
  if (!Buffer.from(messageEncoder.encode(message)).equals(Buffer.from(wire.messageBytes))) return 'unreadable'

  const accountAt = (index: number): Address => {
    const account = message.staticAccounts[index]
    if (account === undefined) throw new RangeError('the account index is out of range')
    return account
  }
  const instructions = message.instructions.map((one) => ({
    program: accountAt(one.programAddressIndex),
    accounts: (one.accountIndices ?? []).map(accountAt),
    data: Uint8Array.from(one.data ?? []),
  }))
  return {
    wire,
    base64: text,
    hash: createHash('sha256').update(Uint8Array.from(wire.messageBytes)).digest('hex'),
    signers: message.staticAccounts.slice(0, message.header.numSignerAccounts),
    instructions,
  }
}

/** Decodes a transaction in base64. */
export const decodeTransaction = (text: string): DecodedTransaction | Undecodable => {
  if (text.length > MAX_BASE64_LENGTH || !BASE64.test(text)) return 'unreadable'
  if (Buffer.byteLength(text, 'base64') > MAX_BYTES) return 'unreadable'
  try {
    return decode(text)
  } catch {
    return 'unreadable'
  }
}

/** Whether the transaction has a valid signature of this signer. */
export const isSignedBy = async (
  { wire }: Pick<DecodedTransaction, 'wire'>,
  signer: Address,
): Promise<boolean> => {
  const signature = wire.signatures[signer]
  // `parseWallet` excludes keys whose signatures can be forged.
  if (!signature || parseWallet(signer, 'solana') === undefined) return false
  return verifySignature(await getPublicKeyFromAddress(signer), signature, wire.messageBytes)
}

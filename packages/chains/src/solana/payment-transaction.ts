import { createHash } from 'node:crypto'
import type { SignedPayment } from '@market/core/ports/facilitator'
import {
  type Address,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  type Transaction,
} from '@solana/kit'
import { getTransferCheckedInstructionDataDecoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'

interface PaymentInstruction {
  readonly program: Address
  readonly accounts: readonly Address[]
  readonly data: Uint8Array
}

interface PaymentTransfer {
  readonly source: Address
  readonly mint: Address
  readonly destination: Address
  readonly authority: Address
  readonly amount: bigint
}

/** A transaction that a buyer signed and whose fee the gas account pays. */
export interface PaymentTransaction {
  readonly wire: Transaction
  readonly base64: string
  /** SHA-256 of the message, which does not depend on the signatures. */
  readonly hash: string
  /** The required signers, with the fee payer first. */
  readonly signers: readonly Address[]
  readonly instructions: readonly PaymentInstruction[]
}

/** Maximum size of a Solana transaction. */
const MAX_BYTES = 1_232
const MAX_BASE64_LENGTH = Math.ceil(MAX_BYTES / 3) * 4
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

const base64 = getBase64Encoder()
const wireDecoder = getTransactionDecoder()
const messageDecoder = getCompiledTransactionMessageDecoder()
const messageEncoder = getCompiledTransactionMessageEncoder()
const transferDecoder = getTransferCheckedInstructionDataDecoder()
const TRANSFER_CHECKED = 12

const decode = (text: string): PaymentTransaction | undefined => {
  const wire = wireDecoder.decode(base64.encode(text))
  const message = messageDecoder.decode(wire.messageBytes)
  // Newer versions set fees in another way, and lookup tables hide which accounts are used.
  if (message.version !== 'legacy' && message.version !== 0) return undefined
  if ('addressTableLookups' in message && (message.addressTableLookups ?? []).length > 0) return undefined
  // Requires the canonical encoding, so that each payment has exactly one hash.
  if (!Buffer.from(messageEncoder.encode(message)).equals(Buffer.from(wire.messageBytes))) return undefined

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

/** Parses the payload of an x402 payment with scheme "exact". Undefined when it has another shape. */
export const parsePaymentTransaction = (payment: SignedPayment): PaymentTransaction | undefined => {
  const text = payment['transaction']
  if (typeof text !== 'string' || text.length > MAX_BASE64_LENGTH || !BASE64.test(text)) return undefined
  if (Buffer.byteLength(text, 'base64') > MAX_BYTES) return undefined
  try {
    return decode(text)
  } catch {
    return undefined
  }
}

/** The transfer, if the instruction is a TransferChecked of the Token program with a single authority. */
export const transferIn = (instruction: PaymentInstruction | undefined): PaymentTransfer | undefined => {
  if (instruction?.program !== TOKEN_PROGRAM_ADDRESS) return undefined
  const { accounts, data } = instruction
  if (data[0] !== TRANSFER_CHECKED || data.length !== transferDecoder.fixedSize) return undefined
  const [source, mint, destination, authority, ...others] = accounts
  if (source === undefined || mint === undefined || destination === undefined) return undefined
  if (authority === undefined || others.length > 0) return undefined
  return { source, mint, destination, authority, amount: transferDecoder.decode(data).amount }
}

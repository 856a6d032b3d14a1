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

/** A transaction that a buyer signed and whose fee somebody else is to pay. */
export interface PaymentTransaction {
  readonly wire: Transaction
  readonly base64: string
  /** The SHA-256 of the message, which no signature slot changes. */
  readonly hash: string
  /** Whoever must sign, the fee payer first. */
  readonly signers: readonly Address[]
  readonly instructions: readonly PaymentInstruction[]
}

/** What fits into one packet, and no more is taken by any node. */
const MOST_BYTES = 1_232
const MOST_BASE64 = Math.ceil(MOST_BYTES / 3) * 4
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
  // Newer versions say otherwise what may be spent on them, and tables hide whose accounts are meant.
  if (message.version !== 'legacy' && message.version !== 0) return undefined
  if ('addressTableLookups' in message && (message.addressTableLookups ?? []).length > 0) return undefined
  // One payment has one spelling: nothing behind the message, no number written longer than it is.
  if (!Buffer.from(messageEncoder.encode(message)).equals(Buffer.from(wire.messageBytes))) return undefined

  const accountAt = (index: number): Address => {
    const account = message.staticAccounts[index]
    if (account === undefined) throw new RangeError('an account that is not there')
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

/** What the payload of an x402 payment asks to be sent, in the shape of scheme "exact"; undefined when it is none. */
export const readPaymentTransaction = (payment: SignedPayment): PaymentTransaction | undefined => {
  const text = payment['transaction']
  if (typeof text !== 'string' || text.length > MOST_BASE64 || !BASE64.test(text)) return undefined
  if (Buffer.byteLength(text, 'base64') > MOST_BYTES) return undefined
  try {
    return decode(text)
  } catch {
    return undefined
  }
}

/** What this instruction moves, if it is a plain TransferChecked of the Token program by one key. */
export const transferIn = (instruction: PaymentInstruction | undefined): PaymentTransfer | undefined => {
  if (instruction?.program !== TOKEN_PROGRAM_ADDRESS) return undefined
  const { accounts, data } = instruction
  if (data[0] !== TRANSFER_CHECKED || data.length !== transferDecoder.fixedSize) return undefined
  const [source, mint, destination, authority, ...more] = accounts
  if (source === undefined || mint === undefined || destination === undefined) return undefined
  if (authority === undefined || more.length > 0) return undefined
  return { source, mint, destination, authority, amount: transferDecoder.decode(data).amount }
}

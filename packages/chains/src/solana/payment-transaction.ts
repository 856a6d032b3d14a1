import type { SignedPayment } from '@market/core/ports/facilitator'
import type { Address } from '@solana/kit'
import { getTransferCheckedInstructionDataDecoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type DecodedInstruction, type DecodedTransaction, decodeTransaction } from './decode-transaction.ts'

interface PaymentTransfer {
  readonly source: Address
  readonly mint: Address
  readonly destination: Address
  readonly authority: Address
  readonly amount: bigint
  readonly decimals: number
}

/** A transaction that a buyer signed and whose fee the gas account pays. */
export type PaymentTransaction = DecodedTransaction

const transferDecoder = getTransferCheckedInstructionDataDecoder()
const TRANSFER_CHECKED = 12

/** Parses the payload of an x402 payment with scheme "exact". Undefined when it has another shape. */
export const parsePaymentTransaction = (payment: SignedPayment): PaymentTransaction | undefined => {
  const text = payment['transaction']
  if (typeof text !== 'string') return undefined
  const decoded = decodeTransaction(text)
  return typeof decoded === 'string' ? undefined : decoded
}

/** The transfer, if the instruction is a TransferChecked of the Token program with a single authority. */
export const transferIn = (instruction: DecodedInstruction | undefined): PaymentTransfer | undefined => {
  if (instruction?.program !== TOKEN_PROGRAM_ADDRESS) return undefined
  const { accounts, data } = instruction
  if (data[0] !== TRANSFER_CHECKED || data.length !== transferDecoder.fixedSize) return undefined
  const [source, mint, destination, authority, ...others] = accounts
  if (source === undefined || mint === undefined || destination === undefined) return undefined
  if (authority === undefined || others.length > 0) return undefined
  const { amount, decimals } = transferDecoder.decode(data)
  return { source, mint, destination, authority, amount, decimals }
}

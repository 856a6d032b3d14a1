import type { PayoutRequest, SignedTransfer } from '@market/core/ports/payout-sender'
import type { SolanaTreasurySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  isSignatureBytes,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { parsePayoutId } from '../transfer-data.ts'
import { USDC_DECIMALS } from './settings.ts'
import { usdcAccountOf } from './token-account.ts'

/** Measured: 15 100 when the account must be created. */
const COMPUTE_UNITS = 80_000
export const MICRO_LAMPORTS_PER_UNIT = 1_000n
export const MAX_MICRO_LAMPORTS_PER_UNIT = 1_000_000n
const LAMPORTS_PER_SIGNATURE = 5_000n

/** The memo program that wallets and explorers use. The newer one is not deployed on every cluster. */
export const MEMO_PROGRAM = LEGACY_MEMO_PROGRAM_ADDRESS_V3

const memoOf = (payoutId: string, attempt: number): string => `${payoutId}#${attempt}`

/** The payout id in a memo made by `memoOf`, or null. */
export const payoutIdIn = (memo: string): string | null => {
  const [, payoutId, attempt] = /^(.+)#([1-9]\d*)$/.exec(memo) ?? []
  return payoutId === undefined || attempt === undefined ? null : parsePayoutId(payoutId)
}

/** The offered price quadruples with each attempt, up to a limit, because an expired attempt offered too little. */
export const priceOf = (attempt: number, first: bigint): bigint => {
  const price = first * 4n ** BigInt(attempt - 1)
  if (price <= MAX_MICRO_LAMPORTS_PER_UNIT) return price
  return first > MAX_MICRO_LAMPORTS_PER_UNIT ? first : MAX_MICRO_LAMPORTS_PER_UNIT
}

/** The fee without the rent of a new account. */
export const feeAt = (microLamportsPerUnit: bigint): bigint =>
  LAMPORTS_PER_SIGNATURE + (BigInt(COMPUTE_UNITS) * microLamportsPerUnit + 999_999n) / 1_000_000n

/** Parameters of one attempt. */
export interface Terms {
  readonly mint: string
  /** The first is 1. */
  readonly attempt: number
  readonly microLamportsPerUnit: bigint
  readonly lifetime: { readonly blockhash: Blockhash; readonly lastValidBlockHeight: bigint }
}

/**
 * The memo makes every payout and attempt unique. Without it, equal payouts would have the same signature, and only one of
 * them would be executed.
 */
const compilePayout = async (payout: PayoutRequest, treasury: string, terms: Terms) => {
  const { mint, attempt, microLamportsPerUnit, lifetime } = terms
  const [source, destination] = await Promise.all([
    usdcAccountOf(treasury, mint),
    usdcAccountOf(payout.to, mint),
  ])
  const payer = createNoopSigner(address(treasury))
  const instructions = [
    getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS }),
    getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
    getCreateAssociatedTokenIdempotentInstruction({
      payer,
      ata: destination,
      owner: address(payout.to),
      mint: address(mint),
    }),
    getTransferCheckedInstruction({
      source,
      mint: address(mint),
      destination,
      authority: payer,
      amount: payout.amount,
      decimals: USDC_DECIMALS,
    }),
    getAddMemoInstruction({ memo: memoOf(payout.payoutId, attempt) }, { programAddress: MEMO_PROGRAM }),
  ]
  return compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayer(payer.address, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
    ),
  )
}

export const signPayout = async (
  payout: PayoutRequest,
  signer: SolanaTreasurySigner,
  terms: Terms,
): Promise<SignedTransfer> => {
  const unsigned = await compilePayout(payout, signer.address, terms)
  const signature = await signer.signMessage(Uint8Array.from(unsigned.messageBytes))
  assert(isSignatureBytes(signature), 'the signature has 64 bytes')
  const transaction = { ...unsigned, signatures: { [address(signer.address)]: signature } }
  return {
    reference: getSignatureFromTransaction(transaction),
    bytes: getBase64EncodedWireTransaction(transaction),
    nonce: null,
    lastValidHeight: terms.lifetime.lastValidBlockHeight,
    maxFeePerGas: null,
    maxPriorityFeePerGas: null,
  }
}

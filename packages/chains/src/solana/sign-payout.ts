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
import { asPayoutId } from '../payout-id.ts'
import { USDC_DECIMALS } from './settings.ts'
import { usdcAccountOf } from './token-account.ts'

/** Measured: 15 100 with a fresh account to make; more than enough is not charged, only reserved. */
const COMPUTE_UNITS = 80_000
export const MICRO_LAMPORTS_PER_UNIT = 1_000n
export const HIGHEST_MICRO_LAMPORTS_PER_UNIT = 1_000_000n
const LAMPORTS_PER_SIGNATURE = 5_000n

/** The memo program of today's wallets and explorers; the newer one is not on every cluster. */
export const MEMO_PROGRAM = LEGACY_MEMO_PROGRAM_ADDRESS_V3

const memoOf = (payoutId: string, attempt: number): string => `${payoutId}#${attempt}`

/** The payout that a memo names; null when it is not one of `memoOf`'s. */
export const payoutIdIn = (memo: string): string | null => {
  const [, payoutId, attempt] = /^(.+)#([1-9]\d*)$/.exec(memo) ?? []
  return payoutId === undefined || attempt === undefined ? null : asPayoutId(payoutId)
}

/** An attempt that expired was not worth a place in a block, so the next one offers four times as much, up to a bound. */
export const priceOf = (attempt: number, first: bigint): bigint => {
  const price = first * 4n ** BigInt(attempt - 1)
  if (price <= HIGHEST_MICRO_LAMPORTS_PER_UNIT) return price
  return first > HIGHEST_MICRO_LAMPORTS_PER_UNIT ? first : HIGHEST_MICRO_LAMPORTS_PER_UNIT
}

/** Without the rent of a fresh account. */
export const feeAt = (microLamportsPerUnit: bigint): bigint =>
  LAMPORTS_PER_SIGNATURE + (BigInt(COMPUTE_UNITS) * microLamportsPerUnit + 999_999n) / 1_000_000n

/** What a signature needs beside the order itself. */
export interface Terms {
  readonly mint: string
  /** The first is 1. */
  readonly attempt: number
  readonly microLamportsPerUnit: bigint
  readonly lifetime: { readonly blockhash: Blockhash; readonly lastValidBlockHeight: bigint }
}

/**
 * The memo makes the bytes, and so the signature, of each payout and attempt its own: Ed25519 gives the same signature
 * for the same bytes, and of two equal payouts only one would land.
 */
const compilePayout = async (order: PayoutRequest, treasury: string, terms: Terms) => {
  const { mint, attempt, microLamportsPerUnit, lifetime } = terms
  const [source, destination] = await Promise.all([
    usdcAccountOf(treasury, mint),
    usdcAccountOf(order.to, mint),
  ])
  const payer = createNoopSigner(address(treasury))
  const instructions = [
    getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS }),
    getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
    getCreateAssociatedTokenIdempotentInstruction({
      payer,
      ata: destination,
      owner: address(order.to),
      mint: address(mint),
    }),
    getTransferCheckedInstruction({
      source,
      mint: address(mint),
      destination,
      authority: payer,
      amount: order.amount,
      decimals: USDC_DECIMALS,
    }),
    getAddMemoInstruction({ memo: memoOf(order.payoutId, attempt) }, { programAddress: MEMO_PROGRAM }),
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
  order: PayoutRequest,
  signer: SolanaTreasurySigner,
  terms: Terms,
): Promise<SignedTransfer> => {
  const unsigned = await compilePayout(order, signer.address, terms)
  const signature = await signer.signMessage(Uint8Array.from(unsigned.messageBytes))
  assert(isSignatureBytes(signature), 'the signer gives 64 bytes')
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

import type { PayoutRequest, SignedPayout } from '@market/core/ports/payout-sender'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { address, createNoopSigner } from '@solana/kit'
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
import { type Lifetime, signTransaction } from './sign-transaction.ts'
import { usdcAccountOf } from './token-account.ts'

/** Measured: 15 100 when the account must be created. */
export const TRANSFER_COMPUTE_UNITS = 80_000
export const MICRO_LAMPORTS_PER_UNIT = 1_000n
export const MAX_MICRO_LAMPORTS_PER_UNIT = 1_000_000n
const LAMPORTS_PER_SIGNATURE = 5_000n

/** The memo program that wallets and explorers use. The newer one is not deployed on every cluster. */
export const MEMO_PROGRAM = LEGACY_MEMO_PROGRAM_ADDRESS_V3

/** Unique for each attempt of a payout or another operation. */
export const memoOf = (id: string, attempt: number): string => `${id}#${attempt}`

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

/** The fee of a transaction. Unused compute units are charged too. */
export const feeOf = (signatures: number, computeUnits: number, microLamportsPerUnit: bigint): bigint =>
  BigInt(signatures) * LAMPORTS_PER_SIGNATURE +
  (BigInt(computeUnits) * microLamportsPerUnit + 999_999n) / 1_000_000n

/** The fee of a payout without the rent of a new account. */
export const feeAt = (microLamportsPerUnit: bigint): bigint =>
  feeOf(1, TRANSFER_COMPUTE_UNITS, microLamportsPerUnit)

/** Parameters of one attempt. */
export interface Terms {
  readonly mint: string
  /** The first is 1. */
  readonly attempt: number
  readonly microLamportsPerUnit: bigint
  readonly lifetime: Lifetime
}

/**
 * The memo makes every payout and attempt unique. Without it, equal payouts would have the same signature, and only one of
 * them would be executed. The account is created only when the payout says so: a payee could close it between two payouts
 * and keep the rent of each.
 */
const instructionsOf = async (payout: PayoutRequest, treasury: string, terms: Terms) => {
  const { mint, attempt, microLamportsPerUnit } = terms
  const [source, destination] = await Promise.all([
    usdcAccountOf(treasury, mint),
    usdcAccountOf(payout.to, mint),
  ])
  const payer = createNoopSigner(address(treasury))
  return [
    getSetComputeUnitLimitInstruction({ units: TRANSFER_COMPUTE_UNITS }),
    getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
    ...(payout.opensAccount === true
      ? [
          getCreateAssociatedTokenIdempotentInstruction({
            payer,
            ata: destination,
            owner: address(payout.to),
            mint: address(mint),
          }),
        ]
      : []),
    getTransferCheckedInstruction({
      source,
      mint: address(mint),
      destination,
      authority: payer,
      amount: payout.amount,
      decimals: USDC_DECIMALS,
    }),
    getAddMemoInstruction({ memo: memoOf(payout.mark, attempt) }, { programAddress: MEMO_PROGRAM }),
  ]
}

export const signPayout = async (
  payout: PayoutRequest,
  signer: SolanaKeySigner,
  terms: Terms,
): Promise<SignedPayout> => {
  const instructions = await instructionsOf(payout, signer.address, terms)
  const { reference, bytes } = await signTransaction(instructions, signer, terms.lifetime)
  return { reference, bytes, validTo: terms.lifetime.lastValidBlockHeight }
}

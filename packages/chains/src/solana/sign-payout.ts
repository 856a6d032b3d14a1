import type { PayoutRequest, SignedPayout } from '@market/core/ports/payout-sender'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
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
/** The transaction has 1,232 bytes at most. */
export const GROUP_SIZE = 10
/** For each payout of a group. */
const GROUP_COMPUTE_UNITS = 30_000
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

const unitsOf = (count: number): number =>
  count === 1 ? TRANSFER_COMPUTE_UNITS : count * GROUP_COMPUTE_UNITS

/** What each of so many payouts of a transaction costs; together at least its fee. */
export const shareAt = (count: number, microLamportsPerUnit: bigint): bigint =>
  (feeOf(1, unitsOf(count), microLamportsPerUnit) + BigInt(count - 1)) / BigInt(count)

/** Parameters of one attempt. */
export interface Terms {
  readonly mint: string
  /** The first is 1. */
  readonly attempt: number
  readonly microLamportsPerUnit: bigint
  readonly lifetime: Lifetime
}

/**
 * The memo behind each transfer makes every payout and attempt unique. Without it, equal payouts would have the same signature,
 * and only one of them would be executed. The account is created only when the payout says so: a payee could close it between
 * two payouts and keep the rent of each.
 */
const instructionsOf = async (
  { to, mark, amount, opensAccount }: PayoutRequest,
  treasury: string,
  { mint, attempt }: Terms,
) => {
  const [source, destination] = await Promise.all([usdcAccountOf(treasury, mint), usdcAccountOf(to, mint)])
  const payer = createNoopSigner(address(treasury))
  const token = { mint: address(mint) }
  return [
    ...(opensAccount === true
      ? [
          getCreateAssociatedTokenIdempotentInstruction({
            ...{ ...token, payer, ata: destination, owner: address(to) },
          }),
        ]
      : []),
    getTransferCheckedInstruction({
      ...{ ...token, source, destination, authority: payer, amount, decimals: USDC_DECIMALS },
    }),
    getAddMemoInstruction({ memo: memoOf(mark, attempt) }, { programAddress: MEMO_PROGRAM }),
  ]
}

/** One transaction that pays all of them, in this order, or none. */
export const signPayouts = async (
  payouts: readonly PayoutRequest[],
  signer: SolanaKeySigner,
  terms: Terms,
): Promise<SignedPayout> => {
  assert(new Set(payouts.map(({ mark }) => mark)).size === payouts.length, 'each payout is paid once')
  const each = await Promise.all(payouts.map((payout) => instructionsOf(payout, signer.address, terms)))
  const instructions = [
    getSetComputeUnitLimitInstruction({ units: unitsOf(payouts.length) }),
    getSetComputeUnitPriceInstruction({ microLamports: terms.microLamportsPerUnit }),
    ...each.flat(),
  ]
  const { reference, bytes } = await signTransaction(instructions, signer, terms.lifetime)
  return { reference, bytes, validTo: terms.lifetime.lastValidBlockHeight }
}

import type { SwapFlaw, SwapTerms } from '@market/core/ports/swaps'
import type { Address } from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget'
import { getTransferSolInstructionDataDecoder, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type DecodedInstruction, decodeTransaction, isSignedBy } from '../decode-transaction.ts'
import { transferIn } from '../payment-transaction.ts'
import { USDC_DECIMALS } from '../settings.ts'
import { MEMO_PROGRAM } from '../sign-payout.ts'
import { usdcAccountOf } from '../token-account.ts'

const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

/** A larger fee is not needed, and the taker may be the one who pays it. */
const MAX_FEE_LAMPORTS = 1_000_000n
const LAMPORTS_PER_SIGNATURE = 5_000n
/** The most that a transaction can use. Assumed when it does not set a limit. */
const MAX_COMPUTE_UNITS = 1_400_000

const SET_LIMIT = 2
const SET_PRICE = 3
const limitDecoder = getSetComputeUnitLimitInstructionDataDecoder()
const priceDecoder = getSetComputeUnitPriceInstructionDataDecoder()

const CREATE_IDEMPOTENT = 1

const SYSTEM_TRANSFER = 2
const ADVANCE_NONCE = 4
const transferSolDecoder = getTransferSolInstructionDataDecoder()

/** Instructions of the Token program that would give the USDC account away. */
const TOKEN_FLAWS: Readonly<Record<number, SwapFlaw>> = {
  4: 'token_approve',
  6: 'token_set_authority',
  9: 'token_close_account',
}

/** The wallets and accounts that the instructions may name. */
interface Parties {
  readonly mint: string
  readonly taker: string
  readonly maker: Address
  readonly takerAccount: Address
  readonly makerAccount: Address
}

/** What the instructions read so far do. */
interface Effects {
  readonly units?: number
  readonly microLamports?: bigint
  readonly hasPayment?: true
  readonly out?: bigint
  readonly hasMemo?: true
}

type Step = (instruction: DecodedInstruction, effects: Effects) => Effects | SwapFlaw

const readBudget: Step = ({ data }, effects) => {
  if (data[0] === SET_LIMIT && data.length === limitDecoder.fixedSize && effects.units === undefined)
    return { ...effects, units: limitDecoder.decode(data).units }
  if (data[0] === SET_PRICE && data.length === priceDecoder.fixedSize && effects.microLamports === undefined)
    return { ...effects, microLamports: priceDecoder.decode(data).microLamports }
  return 'compute_budget'
}

const sameAccounts = (accounts: readonly string[], expected: readonly string[]): boolean =>
  accounts.length === expected.length && accounts.every((account, index) => account === expected[index])

/** The maker may open its own USDC account, and pays for it. */
const readAccountCreation =
  ({ maker, makerAccount, mint }: Parties): Step =>
  ({ accounts, data }, effects) => {
    const expected = [
      maker,
      makerAccount,
      maker,
      mint,
      SYSTEM_PROGRAM_ADDRESS,
      TOKEN_PROGRAM_ADDRESS,
    ] as const
    const isExpected = data.length === 1 && data[0] === CREATE_IDEMPOTENT && sameAccounts(accounts, expected)
    return isExpected ? effects : 'account_creation'
  }

const readPayment =
  (parties: Parties, { amount }: SwapTerms): Step =>
  (instruction, effects) => {
    const transfer = transferIn(instruction)
    if (transfer === undefined) return TOKEN_FLAWS[instruction.data[0] ?? -1] ?? 'token_instruction'
    if (effects.hasPayment) return 'second_payment'
    if (transfer.mint !== parties.mint) return 'payment_mint'
    if (transfer.decimals !== USDC_DECIMALS) return 'payment_decimals'
    if (transfer.source !== parties.takerAccount) return 'payment_source'
    if (transfer.authority !== parties.taker) return 'payment_authority'
    if (transfer.destination !== parties.makerAccount) return 'payment_destination'
    if (transfer.amount !== amount) return 'payment_amount'
    return { ...effects, hasPayment: true }
  }

const readOutput =
  ({ maker, taker }: Parties): Step =>
  ({ accounts, data }, effects) => {
    const [kind = -1, ...high] = data.subarray(0, 4)
    if (high.length !== 3 || high.some((byte) => byte !== 0)) return 'system_instruction'
    if (kind === ADVANCE_NONCE) return 'durable_nonce'
    if (kind !== SYSTEM_TRANSFER || data.length !== transferSolDecoder.fixedSize || accounts.length !== 2)
      return 'system_instruction'
    const [from, to] = accounts
    if (from !== maker) return 'output_source'
    if (effects.out !== undefined) return 'second_output'
    if (to !== taker) return 'output_recipient'
    return { ...effects, out: transferSolDecoder.decode(data).amount }
  }

const readMemo: Step = (_, effects) => (effects.hasMemo ? 'second_memo' : { ...effects, hasMemo: true })

/** The programs that a swap may call. */
const stepsOf = (parties: Parties, terms: SwapTerms): Readonly<Record<string, Step>> => ({
  [COMPUTE_BUDGET_PROGRAM_ADDRESS]: readBudget,
  [ASSOCIATED_TOKEN_PROGRAM_ADDRESS]: readAccountCreation(parties),
  [TOKEN_PROGRAM_ADDRESS]: readPayment(parties, terms),
  [TOKEN_2022_PROGRAM]: () => 'token_2022',
  [SYSTEM_PROGRAM_ADDRESS]: readOutput(parties),
  [MEMO_PROGRAM]: readMemo,
})

const feeOf = ({ units = MAX_COMPUTE_UNITS, microLamports = 0n }: Effects, signers: number): bigint => {
  const used = BigInt(Math.min(units, MAX_COMPUTE_UNITS))
  return BigInt(signers) * LAMPORTS_PER_SIGNATURE + (used * microLamports + 999_999n) / 1_000_000n
}

/** Why the instructions are not exactly the swap, or undefined. */
const flawOf = (
  instructions: readonly DecodedInstruction[],
  signers: readonly Address[],
  steps: Readonly<Record<string, Step>>,
  { taker, minOut }: SwapTerms,
): SwapFlaw | undefined => {
  let effects: Effects = {}
  for (const instruction of instructions) {
    const step = Object.hasOwn(steps, instruction.program) ? steps[instruction.program] : undefined
    const next = step === undefined ? 'unknown_program' : step(instruction, effects)
    if (typeof next === 'string') return next
    effects = next
  }
  if (!effects.hasPayment) return 'no_payment'
  if (effects.out === undefined) return 'no_output'
  const fee = feeOf(effects, signers.length)
  if (fee > MAX_FEE_LAMPORTS) return 'fee_too_high'
  const [feePayer] = signers
  const received = feePayer === taker ? effects.out - fee : effects.out
  return received < minOut ? 'output_too_low' : undefined
}

/**
 * Accepts only a transaction in which a maker sends SOL to the taker for exactly the taker's USDC. Every instruction
 * must be known: what an opaque program does cannot be proven before it is executed.
 */
export const checkSwap = async (
  text: string,
  terms: SwapTerms,
  mint: string,
): Promise<{ readonly flaw: SwapFlaw } | { readonly messageHash: string }> => {
  const transaction = decodeTransaction(text)
  if (typeof transaction === 'string') return { flaw: transaction }
  const { signers, instructions, hash } = transaction
  const [maker, ...others] = signers.filter((signer) => signer !== terms.taker)
  if (signers.length !== 2 || maker === undefined || others.length > 0) return { flaw: 'signers' }

  const [takerAccount, makerAccount] = await Promise.all([
    usdcAccountOf(terms.taker, mint),
    usdcAccountOf(maker, mint),
  ])
  const parties = { mint, taker: terms.taker, maker, takerAccount, makerAccount }
  const flaw = flawOf(instructions, signers, stepsOf(parties, terms), terms)
  if (flaw !== undefined) return { flaw }
  return (await isSignedBy(transaction, maker)) ? { messageHash: hash } : { flaw: 'maker_signature' }
}

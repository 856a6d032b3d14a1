import { outOfGas } from '@market/core/ports/facilitator'
import { ApiError, unavailable } from '@market/kernel/api-error'
import type { Address, Base64EncodedWireTransaction, TransactionError } from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget'
import { isSignedBy } from './decode-transaction.ts'
import type { SolanaNodes } from './nodes.ts'
import { type PaymentTransaction, transferIn } from './payment-transaction.ts'
import { MAX_MICRO_LAMPORTS_PER_UNIT, MEMO_PROGRAM } from './sign-payout.ts'
import { readTokenAccount } from './token-account.ts'

/** Error codes, as defined by x402 where they exist. */
export const REASONS = {
  unreadable: 'invalid_exact_svm_payload_transaction_could_not_be_decoded',
  signers: 'invalid_exact_svm_payload_excessive_signers',
  feePayer: 'invalid_exact_svm_fee_payer_mismatch',
  signature: 'invalid_exact_svm_payload_signature_invalid',
  length: 'invalid_exact_svm_payload_transaction_instructions_length',
  limit: 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction',
  limitTooHigh: 'invalid_exact_svm_payload_transaction_instructions_compute_limit_instruction_too_high',
  price: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction',
  priceTooHigh: 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high',
  transfer: 'invalid_exact_svm_payload_no_transfer_instruction',
  ours: 'invalid_exact_svm_payload_transaction_fee_payer_transferring_funds',
  included: 'invalid_exact_svm_payload_transaction_fee_payer_included_in_instruction_accounts',
  mint: 'invalid_exact_svm_payload_mint_mismatch',
  recipient: 'invalid_exact_svm_payload_recipient_mismatch',
  amount: 'invalid_exact_svm_payload_amount_mismatch',
  extra: 'invalid_exact_svm_payload_unknown_optional_instruction',
  notOwner: 'invalid_exact_svm_payload_authority_not_owner',
  balance: 'insufficient_funds',
  simulation: 'invalid_exact_svm_transaction_simulation_failed',
} as const

const MAX_SIGNERS = 2
const [MIN_INSTRUCTIONS, MAX_INSTRUCTIONS] = [3, 7]
/** A transfer with a memo uses less than 20 000. The rest is for the guard instructions that wallets add. */
const MAX_COMPUTE_UNITS = 60_000
const SIGNATURE_FEE = 5_000n
/** Upper limit of the fee of a settlement, in lamports. */
export const MAX_FEE =
  BigInt(MAX_SIGNERS) * SIGNATURE_FEE + (BigInt(MAX_COMPUTE_UNITS) * MAX_MICRO_LAMPORTS_PER_UNIT) / 1_000_000n
/** Wallets add guard instructions of this program. They fail when the balances change more than expected. */
const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'
const EXTRA_PROGRAMS: ReadonlySet<string> = new Set([MEMO_PROGRAM, LIGHTHOUSE_PROGRAM])

const SET_LIMIT = 2
const SET_PRICE = 3
const limitDecoder = getSetComputeUnitLimitInstructionDataDecoder()
const priceDecoder = getSetComputeUnitPriceInstructionDataDecoder()

/** What the payment must transfer, and to which account. */
export interface PaymentTerms {
  readonly gasAccount: string
  readonly mint: string
  readonly destination: Address
  readonly amount: bigint
}

type Instruction = PaymentTransaction['instructions'][number] | undefined

const isBudget = (
  instruction: Instruction,
  kind: number,
  size: number,
): instruction is NonNullable<Instruction> =>
  instruction?.program === COMPUTE_BUDGET_PROGRAM_ADDRESS &&
  instruction.data[0] === kind &&
  instruction.data.length === size

/** Checks the fee that the gas account would pay. */
const rejectBudget = (limit: Instruction, price: Instruction): string | undefined => {
  if (!isBudget(limit, SET_LIMIT, limitDecoder.fixedSize)) return REASONS.limit
  if (limitDecoder.decode(limit.data).units > MAX_COMPUTE_UNITS) return REASONS.limitTooHigh
  if (!isBudget(price, SET_PRICE, priceDecoder.fixedSize)) return REASONS.price
  const { microLamports } = priceDecoder.decode(price.data)
  // The same limit as for payouts.
  return microLamports > MAX_MICRO_LAMPORTS_PER_UNIT ? REASONS.priceTooHigh : undefined
}

/** Checks that need no network access. The gas account signs only transactions that pass them. */
export const rejectLayout = (payment: PaymentTransaction, terms: PaymentTerms): string | undefined => {
  const { signers, instructions } = payment
  if (signers.length > MAX_SIGNERS) return REASONS.signers
  const [feePayer, payer] = signers
  if (feePayer !== terms.gasAccount) return REASONS.feePayer
  if (instructions.length < MIN_INSTRUCTIONS || instructions.length > MAX_INSTRUCTIONS) return REASONS.length
  const [limit, price, third, ...extra] = instructions
  const budget = rejectBudget(limit, price)
  if (budget !== undefined) return budget
  const transfer = transferIn(third)
  if (transfer === undefined) return REASONS.transfer
  if (transfer.authority === terms.gasAccount) return REASONS.ours
  if (instructions.some(({ accounts }) => accounts.includes(feePayer))) return REASONS.included
  if (transfer.authority !== payer) return REASONS.signature
  if (transfer.mint !== terms.mint) return REASONS.mint
  if (transfer.destination !== terms.destination) return REASONS.recipient
  if (transfer.amount !== terms.amount) return REASONS.amount
  return extra.every(({ program }) => EXTRA_PROGRAMS.has(program)) ? undefined : REASONS.extra
}

/** Simulates the payment. A lagging node does not have a new blockhash, so all nodes are tried until one succeeds. */
const simulate = async (
  nodes: SolanaNodes,
  { base64 }: PaymentTransaction,
): Promise<TransactionError | null> => {
  const failures: unknown[] = []
  let rejection: TransactionError | undefined
  for (const { rpc } of nodes.each) {
    try {
      const config = { encoding: 'base64', commitment: 'confirmed', sigVerify: false } as const
      const { value } = await rpc.simulateTransaction(base64 as Base64EncodedWireTransaction, config).send()
      if (value.err === null) return null
      rejection = value.err
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      failures.push(failure)
    }
  }
  if (rejection === undefined)
    throw unavailable('No Solana node could simulate the payment', new AggregateError(failures))
  return rejection
}

/** Whether the failure concerns the first account, which pays the fee, and not the buyer. */
const isGasAccountFailure = (failure: TransactionError | null): boolean =>
  failure === 'InsufficientFundsForFee' ||
  failure === 'AccountNotFound' ||
  (typeof failure === 'object' &&
    failure !== null &&
    'InsufficientFundsForRent' in failure &&
    // Typed as a number, but the RPC client parses integers as bigint.
    Number(failure.InsufficientFundsForRent.account_index) === 0)

/** Checks the buyer's signature and the state of the chain. */
export const rejectOnChain = async (
  nodes: SolanaNodes,
  payment: PaymentTransaction,
): Promise<string | undefined> => {
  const transfer = transferIn(payment.instructions[2])
  if (transfer === undefined) return REASONS.transfer
  const { source, authority, amount } = transfer
  if (!(await isSignedBy(payment, authority))) return REASONS.signature
  const account = await readTokenAccount(nodes.rpc, source, 'confirmed')
  if (account === undefined || (account.owner === authority && account.amount < amount))
    return REASONS.balance
  // A delegate could pay with another wallet's money, and the buyer would be ambiguous.
  if (account.owner !== authority) return REASONS.notOwner
  const failure = await simulate(nodes, payment)
  if (isGasAccountFailure(failure)) throw outOfGas('solana-mainnet')
  return failure === null ? undefined : REASONS.simulation
}

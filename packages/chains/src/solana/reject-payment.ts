import { outOfGas } from '@market/core/ports/facilitator'
import { ApiError, unavailable } from '@market/kernel/api-error'
import {
  type Address,
  type Base64EncodedWireTransaction,
  getPublicKeyFromAddress,
  type TransactionError,
  verifySignature,
} from '@solana/kit'
import {
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  getSetComputeUnitLimitInstructionDataDecoder,
  getSetComputeUnitPriceInstructionDataDecoder,
} from '@solana-program/compute-budget'
import { parseWallet } from '../signatures/parse-wallet.ts'
import type { SolanaNodes } from './nodes.ts'
import { type PaymentTransaction, transferIn } from './payment-transaction.ts'
import { HIGHEST_MICRO_LAMPORTS_PER_UNIT, MEMO_PROGRAM } from './sign-payout.ts'
import { readTokenAccount } from './token-account.ts'

/** In x402's own words where it has any; its clients know them. */
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

const MOST_SIGNERS = 2
const [FEWEST_INSTRUCTIONS, MOST_INSTRUCTIONS] = [3, 7]
/** A transfer with a memo takes under 20 000; the rest is for what a wallet adds to protect its owner. */
const MOST_UNITS = 60_000
const SIGNATURE_FEE = 5_000n
/** In lamports, for all that the gas account ever signs. */
export const MOST_FEE =
  BigInt(MOST_SIGNERS) * SIGNATURE_FEE + (BigInt(MOST_UNITS) * HIGHEST_MICRO_LAMPORTS_PER_UNIT) / 1_000_000n
/** Wallets add instructions of this program, which fail when the owner would lose more than was shown. */
const LIGHTHOUSE_PROGRAM = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'
const EXTRA_PROGRAMS: ReadonlySet<string> = new Set([MEMO_PROGRAM, LIGHTHOUSE_PROGRAM])

const SET_LIMIT = 2
const SET_PRICE = 3
const limitDecoder = getSetComputeUnitLimitInstructionDataDecoder()
const priceDecoder = getSetComputeUnitPriceInstructionDataDecoder()

/** What the payment is to bring, and where. */
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

/** What the gas account would spend on it. */
const rejectBudget = (limit: Instruction, price: Instruction): string | undefined => {
  if (!isBudget(limit, SET_LIMIT, limitDecoder.fixedSize)) return REASONS.limit
  if (limitDecoder.decode(limit.data).units > MOST_UNITS) return REASONS.limitTooHigh
  if (!isBudget(price, SET_PRICE, priceDecoder.fixedSize)) return REASONS.price
  const { microLamports } = priceDecoder.decode(price.data)
  // No more than a payout of our own would offer.
  return microLamports > HIGHEST_MICRO_LAMPORTS_PER_UNIT ? REASONS.priceTooHigh : undefined
}

/** What the transaction itself tells, without asking anybody. The gas account signs nothing that this rejects. */
export const rejectLayout = (payment: PaymentTransaction, terms: PaymentTerms): string | undefined => {
  const { signers, instructions } = payment
  if (signers.length > MOST_SIGNERS) return REASONS.signers
  const [feePayer, payer] = signers
  if (feePayer !== terms.gasAccount) return REASONS.feePayer
  if (instructions.length < FEWEST_INSTRUCTIONS || instructions.length > MOST_INSTRUCTIONS)
    return REASONS.length
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

const isSigned = async ({ wire }: PaymentTransaction, payer: Address): Promise<boolean> => {
  const signature = wire.signatures[payer]
  // A key that signs for everybody is nobody's.
  if (!signature || parseWallet(payer, 'solana') === undefined) return false
  return verifySignature(await getPublicKeyFromAddress(payer), signature, wire.messageBytes)
}

/** Why the nodes would not take it. One that is behind does not know a fresh blockhash, so the others are asked, too. */
const failureIn = async (
  nodes: SolanaNodes,
  { base64 }: PaymentTransaction,
): Promise<TransactionError | null> => {
  const failures: unknown[] = []
  let told: TransactionError | undefined
  for (const { rpc } of nodes.each) {
    try {
      const config = { encoding: 'base64', commitment: 'confirmed', sigVerify: false } as const
      const { value } = await rpc.simulateTransaction(base64 as Base64EncodedWireTransaction, config).send()
      if (value.err === null) return null
      told = value.err
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      failures.push(failure)
    }
  }
  if (told === undefined) throw unavailable('No Solana node tries the payment', new AggregateError(failures))
  return told
}

/** Not the buyer's fault: the first account is the one that pays the fee. */
const isOfGas = (failure: TransactionError | null): boolean =>
  failure === 'InsufficientFundsForFee' ||
  failure === 'AccountNotFound' ||
  (typeof failure === 'object' &&
    failure !== null &&
    'InsufficientFundsForRent' in failure &&
    // Typed as a number; what reads the answer makes whole numbers bigints.
    Number(failure.InsufficientFundsForRent.account_index) === 0)

/** What the buyer's signature and the chain tell. */
export const rejectOnChain = async (
  nodes: SolanaNodes,
  payment: PaymentTransaction,
): Promise<string | undefined> => {
  const transfer = transferIn(payment.instructions[2])
  if (transfer === undefined) return REASONS.transfer
  const { source, authority, amount } = transfer
  if (!(await isSigned(payment, authority))) return REASONS.signature
  const account = await readTokenAccount(nodes.rpc, source, 'confirmed')
  if (account === undefined || (account.owner === authority && account.amount < amount))
    return REASONS.balance
  // A delegate may pay with somebody else's money; whose purchase it would be, the chain does not tell.
  if (account.owner !== authority) return REASONS.notOwner
  const failure = await failureIn(nodes, payment)
  if (isOfGas(failure)) throw outOfGas('solana-mainnet')
  return failure === null ? undefined : REASONS.simulation
}

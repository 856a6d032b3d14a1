import { type Address, getBase58Encoder } from '@solana/kit'
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { DecodedInstruction } from './decode-transaction.ts'
import { transferIn } from './payment-transaction.ts'
import type { Transaction, TreasuryAccount, UsdcChange } from './read-transfer.ts'
import { MEMO_PROGRAM, payoutIdIn } from './sign-payout.ts'

/** One of the payments of a transaction. */
interface Payment {
  readonly mark: string
  readonly payee: string
  readonly amount: bigint
}

const base58 = getBase58Encoder()
const NO_ADDRESS = '' as Address
const IGNORED: ReadonlySet<string> = new Set([
  COMPUTE_BUDGET_PROGRAM_ADDRESS,
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
])

/** An account that a lookup table names has no address here. */
const instructionsIn = ({ message }: Transaction['transaction']): readonly DecodedInstruction[] => {
  const addressAt = (index: number) => message.accountKeys[index] ?? NO_ADDRESS
  return message.instructions.map(({ programIdIndex, accounts, data }) => ({
    program: addressAt(programIdIndex),
    accounts: accounts.map(addressAt),
    data: Uint8Array.from(base58.encode(data)),
  }))
}

/**
 * The payments of a transaction as `signPayouts` makes it: transfers from the treasury, each with the memo of its payout behind
 * it. Undefined when it contains anything else, or when the balances do not show exactly these payments.
 */
export function paymentsOf(
  { transaction }: Transaction,
  { accounts, treasuryChange }: UsdcChange,
  treasury: TreasuryAccount,
): readonly Payment[] | undefined {
  const payments: Payment[] = []
  const received = new Map<string, bigint>()
  const instructions = instructionsIn(transaction).filter(({ program }) => !IGNORED.has(program))
  for (let at = 0; at < instructions.length; at += 2) {
    const [transfer, memo] = [transferIn(instructions[at]), instructions[at + 1]]
    if (transfer === undefined || memo?.program !== MEMO_PROGRAM) return undefined
    const { source, mint, destination, authority, amount } = transfer
    if (source !== treasury.account || mint !== treasury.mint || authority !== treasury.owner)
      return undefined
    const mark = payoutIdIn(Buffer.from(memo.data).toString())
    const payee = accounts.get(destination)?.owner
    if (mark === null || payee === undefined) return undefined
    payments.push({ mark, payee, amount })
    received.set(destination, (received.get(destination) ?? 0n) + amount)
  }
  // A payout is paid once, also in a transaction that this program did not make.
  if (new Set(payments.map(({ mark }) => mark)).size < payments.length) return undefined
  const changed = [...accounts].filter(([, { change }]) => change !== 0n)
  const isWhole =
    changed.length === received.size && changed.every(([key, { change }]) => received.get(key) === change)
  const sent = payments.reduce((sum, { amount }) => sum + amount, 0n)
  return isWhole && sent === -treasuryChange ? payments : undefined
}

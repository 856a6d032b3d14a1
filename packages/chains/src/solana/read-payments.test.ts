import { address, getBase58Decoder } from '@solana/kit'
import { COMPUTE_BUDGET_PROGRAM_ADDRESS } from '@solana-program/compute-budget'
import { getTransferCheckedInstructionDataEncoder, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { expect, test } from 'vitest'
import { paymentsOf } from './read-payments.ts'
import type { Transaction, UsdcChange } from './read-transfer.ts'
import { MEMO_PROGRAM, memoOf } from './sign-payout.ts'

const TREASURY = {
  account: address('So11111111111111111111111111111111111111112'),
  owner: 'owner',
  mint: 'mint',
}
const KEYS = [
  ...['owner', TREASURY.account, 'mint', 'first', 'second'],
  ...[TOKEN_PROGRAM_ADDRESS, MEMO_PROGRAM, COMPUTE_BUDGET_PROGRAM_ADDRESS, 'stranger'],
]
const at = (key: string) => KEYS.indexOf(key)
const [ONE, TWO] = [`pay_${'1'.repeat(32)}`, `pay_${'2'.repeat(32)}`]
const instruction = (program: string, accounts: readonly string[], data: ArrayLike<number>) => ({
  programIdIndex: at(program),
  accounts: accounts.map(at),
  data: getBase58Decoder().decode(Uint8Array.from(data)),
})
const transfer = (to: string, amount: bigint, authority = 'owner') =>
  instruction(
    TOKEN_PROGRAM_ADDRESS,
    [TREASURY.account, 'mint', to, authority],
    getTransferCheckedInstructionDataEncoder().encode({ amount, decimals: 6 }) as Uint8Array,
  )
const memo = (text: string) => instruction(MEMO_PROGRAM, [], Buffer.from(text))
const BUDGET = instruction(COMPUTE_BUDGET_PROGRAM_ADDRESS, [], [2, 1, 0, 0, 0])

/** Undefined unless the balances of the accounts changed like this. */
const read = (instructions: readonly object[], changes: Readonly<Record<string, bigint>>) => {
  const accounts = new Map(
    Object.entries(changes).map(([key, change]) => [key, { owner: `owner of ${key}`, change }]),
  )
  const treasuryChange = -Object.values(changes).reduce((sum, change) => sum + change, 0n)
  const message = { accountKeys: KEYS, instructions }
  return paymentsOf(
    { transaction: { message } } as unknown as Transaction,
    { accounts, treasuryChange } as unknown as UsdcChange,
    TREASURY,
  )
}

test('each transfer is paid for the payout of the memo behind it, also two to one payee', () => {
  const three = [
    BUDGET,
    transfer('first', 5n),
    memo(memoOf(ONE, 1)),
    transfer('first', 6n),
    memo(memoOf(TWO, 3)),
  ]
  expect(read(three, { first: 11n })).toEqual([
    { mark: ONE, payee: 'owner of first', amount: 5n },
    { mark: TWO, payee: 'owner of first', amount: 6n },
  ])
})

test.each([
  [
    'a payout is named twice',
    [transfer('first', 5n), memo(memoOf(ONE, 1)), transfer('second', 6n), memo(memoOf(ONE, 2))],
  ],
  ['a transfer has no memo', [transfer('first', 5n), transfer('second', 6n), memo(memoOf(ONE, 1))]],
  ['the last transfer has no memo', [transfer('first', 5n), memo(memoOf(ONE, 1)), transfer('second', 6n)]],
  [
    'a memo names no payout',
    [transfer('first', 5n), memo('thanks'), transfer('second', 6n), memo(memoOf(ONE, 1))],
  ],
  [
    'a delegate sent one',
    [transfer('first', 5n), memo(memoOf(ONE, 1)), transfer('second', 6n, 'stranger'), memo(memoOf(TWO, 1))],
  ],
  [
    'the memo is before its transfer',
    [memo(memoOf(ONE, 1)), transfer('first', 5n), memo(memoOf(TWO, 1)), transfer('second', 6n)],
  ],
])('%s: no payment is read', (_what, instructions) => {
  expect(read(instructions, { first: 5n, second: 6n })).toBeUndefined()
})

test('the balances show something else: no payment is read', () => {
  const one = [transfer('first', 5n), memo(memoOf(ONE, 1))]
  expect(read(one, { first: 5n })).toHaveLength(1)
  for (const changes of [{ first: 6n }, { first: 5n, second: 1n }, { second: 5n }])
    expect(read(one, changes)).toBeUndefined()
})

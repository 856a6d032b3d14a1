import { usdc } from '@market/kernel/money'
import { expect, test } from 'vitest'
import { fundsMessage } from './insufficient-funds.ts'

const payer = '0x1111111111111111111111111111111111111111'
const purchase = { payer, network: 'base-mainnet', due: usdc(1_000_000n) } as const

test('too little USDC: the message says the balance and what is missing', () => {
  expect(fundsMessage(purchase, usdc(250_000n), usdc(0n))).toBe(
    `${payer} holds 0.25 USDC on base-mainnet, and 1.00 USDC is due. Send 0.75 USDC to it, then pay again.`,
  )
})

test('payments under way: the message names them', () => {
  expect(fundsMessage(purchase, usdc(1_500_000n), usdc(900_000n))).toBe(
    `${payer} holds 1.50 USDC on base-mainnet, of which 0.90 USDC is for payments under way, and 1.00 USDC is due. Send 0.40 USDC to it, then pay again.`,
  )
})

test.each([
  ['unknown', undefined],
  ['meanwhile sufficient', usdc(1_000_000n)],
])('a balance that is %s is not named', (_, balance) => {
  expect(fundsMessage(purchase, balance, usdc(0n))).toBe(
    `${payer} has too little USDC on base-mainnet: 1.00 USDC is due. Send USDC to it, then pay again.`,
  )
})

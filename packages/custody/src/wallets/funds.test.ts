import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountToSend } from './funds.ts'

const COSTS = { cost: 5_000n, rentExempt: 890_880n }
const amounts = fc.bigInt({ min: 0n, max: 10_000_000n })

test('amountToSend: everything is the balance without the fee', () => {
  expect(
    amountToSend({ asset: 'SOL', amount: null }, { lamports: 1_000_000n, usdcMicros: 0n }, COSTS),
  ).toEqual({ amount: 995_000n })
  expect(
    amountToSend({ asset: 'USDC', amount: null }, { lamports: 1_000_000n, usdcMicros: 7n }, COSTS),
  ).toEqual({ amount: 7n })
})

test('amountToSend: asks for SOL when USDC is there but the fee is not', () => {
  const balances = { lamports: 4_999n, usdcMicros: 7n }
  expect(amountToSend({ asset: 'USDC', amount: 7n }, balances, COSTS)).toEqual({
    missing: { asset: 'SOL', required: 895_880n, balance: 4_999n },
  })
})

test('amountToSend: a wallet without USDC lacks USDC, also for everything', () => {
  const balances = { lamports: 10_000_000n, usdcMicros: 0n }
  expect(amountToSend({ asset: 'USDC', amount: null }, balances, COSTS)).toEqual({
    missing: { asset: 'USDC', required: 1n, balance: 0n },
  })
})

test('amountToSend: what stays of SOL is nothing or rent-exempt, for any balance and amount', () => {
  fc.assert(
    fc.property(
      amounts,
      fc.option(
        amounts.filter((amount) => amount > 0n),
        { nil: null },
      ),
      (lamports, amount) => {
        const result = amountToSend({ asset: 'SOL', amount }, { lamports, usdcMicros: 0n }, COSTS)
        if ('missing' in result) return result.missing.required > lamports || amount !== null
        const rest = lamports - COSTS.cost - result.amount
        return result.amount > 0n && (rest === 0n || rest >= COSTS.rentExempt)
      },
    ),
  )
})

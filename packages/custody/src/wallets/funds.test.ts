import fc from 'fast-check'
import { expect, test } from 'vitest'
import { amountToSend } from './funds.ts'

const COSTS = { cost: 5_000n, rentExempt: 890_880n }
const amounts = fc.bigInt({ min: 0n, max: 10_000_000n })

const ALL = { amount: null, isAll: true }
const TOKEN = { mint: 'm'.repeat(44), decimals: 9 }

test('amountToSend: everything is the balance without the fee', () => {
  const lamports = 1_000_000n
  expect(amountToSend({ asset: 'SOL', ...ALL }, { lamports, units: lamports }, COSTS)).toEqual({
    amount: 995_000n,
  })
  for (const asset of ['USDC', TOKEN] as const)
    expect(amountToSend({ asset, ...ALL }, { lamports, units: 7n }, COSTS)).toEqual({ amount: 7n })
})

test('amountToSend: everything is what the fee of this attempt leaves, whatever an earlier attempt signed', () => {
  const lamports = 1_000_000n
  const again = { asset: 'SOL', amount: 995_000n, isAll: true } as const
  expect(amountToSend(again, { lamports, units: lamports }, { ...COSTS, cost: 20_000n })).toEqual({
    amount: 980_000n,
  })
})

test('amountToSend: asks for SOL when USDC is there but the fee is not', () => {
  const held = { lamports: 4_999n, units: 7n }
  expect(amountToSend({ asset: 'USDC', amount: 7n, isAll: false }, held, COSTS)).toEqual({
    missing: { asset: 'SOL', required: 895_880n, balance: 4_999n },
  })
})

test('amountToSend: a wallet without USDC lacks USDC, also for everything', () => {
  const held = { lamports: 10_000_000n, units: 0n }
  expect(amountToSend({ asset: 'USDC', ...ALL }, held, COSTS)).toEqual({
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
        const result = amountToSend(
          { asset: 'SOL', amount, isAll: amount === null },
          { lamports, units: lamports },
          COSTS,
        )
        if ('missing' in result) return result.missing.required > lamports || amount !== null
        const rest = lamports - COSTS.cost - result.amount
        return result.amount > 0n && (rest === 0n || rest >= COSTS.rentExempt)
      },
    ),
  )
})

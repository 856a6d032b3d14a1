import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { TokenMode } from '../tokens/index.ts'
import { splitFees } from './split.ts'

const MOST_LAMPORTS = 1_000_000_000_000_000n
const RUNS = { numRuns: 10_000 }
const amounts = fc.bigInt({ min: 0n, max: MOST_LAMPORTS })
const modes = fc.constantFrom<TokenMode>('token2022', 'pumpfun')

/** The specified shares in basis points. */
const BPS = {
  token2022: { agent: 6_500n, partner: 2_333n, buyback: 1_167n },
  pumpfun: { agent: 9_000n, partner: 0n, buyback: 1_000n },
} as const

test.each([
  ['token2022', 10_000n, { agent: 6_500n, partner: 2_333n, buyback: 1_167n }],
  ['token2022', 1_000_000_000n, { agent: 650_000_000n, partner: 233_300_000n, buyback: 116_700_000n }],
  ['token2022', 1n, { agent: 1n, partner: 0n, buyback: 0n }],
  ['token2022', 3n, { agent: 3n, partner: 0n, buyback: 0n }],
  ['token2022', 9_999n, { agent: 6_501n, partner: 2_332n, buyback: 1_166n }],
  ['token2022', 0n, { agent: 0n, partner: 0n, buyback: 0n }],
  ['pumpfun', 10_000n, { agent: 9_000n, partner: 0n, buyback: 1_000n }],
  ['pumpfun', 9n, { agent: 9n, partner: 0n, buyback: 0n }],
  ['pumpfun', 19n, { agent: 18n, partner: 0n, buyback: 1n }],
] as const)('splitFees: %s splits %s lamports', (mode, lamports, shares) => {
  expect(splitFees(lamports, mode)).toEqual(shares)
})

test('splitFees: the shares sum to the amount for any amount and mode', () => {
  fc.assert(
    fc.property(amounts, modes, (lamports, mode) => {
      const { agent, partner, buyback } = splitFees(lamports, mode)
      return agent + partner + buyback === lamports
    }),
    RUNS,
  )
})

test('splitFees: partner and buyback lose less than one lamport, and the agent gains what they lose', () => {
  fc.assert(
    fc.property(amounts, modes, (lamports, mode) => {
      const shares = splitFees(lamports, mode)
      // In ten-thousandths of a lamport, so that the exact share is a whole number.
      const excess = (name: keyof typeof shares) => shares[name] * 10_000n - lamports * BPS[mode][name]
      const [agent, partner, buyback] = [excess('agent'), excess('partner'), excess('buyback')]
      const isRoundedDown = (one: bigint) => one <= 0n && one > -10_000n
      return isRoundedDown(partner) && isRoundedDown(buyback) && agent === -partner - buyback
    }),
    RUNS,
  )
})

test('splitFees: rejects a negative amount', () => {
  expect(() => splitFees(-1n, 'token2022')).toThrow(RangeError)
})

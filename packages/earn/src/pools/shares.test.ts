import { usdc } from '@market/kernel/money'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Equity, FIRST_DEPOSIT_MIN, mintProblem, SHARE, sharesFor, valueOfShares } from './shares.ts'

const USD = 1_000_000n
const EMPTY: Equity = { micros: 0n, shares: 0n }

/** A small generator with a seed, because 100,000 states of a property library take a minute. */
function randomFrom(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (limit: number) => Math.floor(next() * limit),
    /** Between two amounts, with every order of magnitude as likely as another. */
    between: (least: number, most: number) =>
      BigInt(Math.floor(Math.exp(Math.log(least) + next() * (Math.log(most) - Math.log(least))))),
  }
}
type Random = ReturnType<typeof randomFrom>

/** A pool and its depositors, as the modules above use the share maths. */
class PoolModel {
  micros = 0n
  readonly holders = new Map<number, bigint>()

  get equity(): Equity {
    return { micros: this.micros, shares: this.holders.values().reduce((sum, one) => sum + one, 0n) }
  }

  claims = (): bigint =>
    this.holders.values().reduce((sum, shares) => sum + valueOfShares(shares, this.equity), 0n)

  /** Returns the shares that were minted, or undefined when the deposit was rejected. */
  deposit(holder: number, amount: bigint): bigint | undefined {
    if (mintProblem(usdc(amount), this.equity) !== undefined) return undefined
    const minted = sharesFor(usdc(amount), this.equity)
    this.micros += amount
    this.holders.set(holder, (this.holders.get(holder) ?? 0n) + minted)
    return minted
  }

  withdraw(holder: number, shares: bigint): bigint {
    const amount = valueOfShares(shares, this.equity)
    this.holders.set(holder, (this.holders.get(holder) ?? 0n) - shares)
    this.micros -= amount
    return amount
  }

  withdrawAll = (holder: number): bigint => this.withdraw(holder, this.holders.get(holder) ?? 0n)
}

const HOLDERS = 5
const percent = (amount: bigint, part: number): bigint => (amount * BigInt(part)) / 100n

const COMMANDS: readonly ((pool: PoolModel, random: Random) => void)[] = [
  (pool, random) => pool.deposit(random.below(HOLDERS), random.between(1, 1e15)),
  (pool, random) => pool.deposit(random.below(HOLDERS), random.between(1e8, 1e12)),
  (pool, random) => {
    const holder = random.below(HOLDERS)
    pool.withdraw(holder, percent(pool.holders.get(holder) ?? 0n, random.below(101)))
  },
  (pool, random) => pool.withdrawAll(random.below(HOLDERS)),
  (pool, random) => {
    pool.micros += percent(pool.micros, random.below(10))
  },
  (pool, random) => {
    pool.micros -= percent(pool.micros, random.below(30))
  },
  // Everything is lost, rarely.
  (pool, random) => {
    if (random.below(20) === 0) pool.micros = 0n
  },
]

const COMMANDS_EACH = 50
const STATES = 110_000

/** Every state that random commands on random pools lead to. */
function* states(): Generator<readonly [PoolModel, Random]> {
  const random = randomFrom(20)
  for (let seen = 0; seen < STATES; ) {
    const pool = new PoolModel()
    for (let n = 0; n < COMMANDS_EACH; n++, seen++) {
      COMMANDS[random.below(COMMANDS.length)]?.(pool, random)
      yield [pool, random]
    }
  }
}

describe('shares: in every state after random deposits, withdrawals, gains and losses', () => {
  test('the claims of all depositors are never above the equity, also one after the other', () => {
    const broken: string[] = []
    for (const [pool] of states()) {
      if (pool.micros < 0n || pool.claims() > pool.micros)
        broken.push(`${pool.claims()} is claimed of ${pool.micros}`)
    }
    expect(broken).toEqual([])
  })

  test('a deposit that is withdrawn at once never gains, and loses at most 1 micro-dollar', () => {
    let worst = 0n
    for (const [pool, random] of states()) {
      const { equity } = pool
      const amount = random.between(1, 1e14)
      if (mintProblem(usdc(amount), equity) !== undefined) continue
      const minted = sharesFor(usdc(amount), equity)
      const after = { micros: equity.micros + amount, shares: equity.shares + minted }
      const lost = amount - valueOfShares(minted, after)
      if (lost < 0n) expect.fail(`${amount} gained ${-lost} in ${equity.micros} / ${equity.shares}`)
      if (equity.micros >= USD && lost > worst) worst = lost
    }
    expect(worst).toBe(1n)
  })

  test('a deposit and a withdrawal of others never take from a depositor', () => {
    const taken = { byDeposit: 0, byWithdrawal: 0 }
    for (const [pool, random] of states()) {
      const { equity } = pool
      const mine = pool.holders.get(0) ?? 0n
      const before = valueOfShares(mine, equity)
      const amount = random.between(1, 1e14)
      if (mintProblem(usdc(amount), equity) === undefined) {
        const minted = sharesFor(usdc(amount), equity)
        const entered = { micros: equity.micros + amount, shares: equity.shares + minted }
        if (valueOfShares(mine, entered) < before) taken.byDeposit++
      }
      const others = equity.shares - mine
      const left = { micros: equity.micros - valueOfShares(others, equity), shares: mine }
      if (valueOfShares(mine, left) < before) taken.byWithdrawal++
    }
    expect(taken).toEqual({ byDeposit: 0, byWithdrawal: 0 })
  })
})

describe('shares: inflation attack', () => {
  /** What the attacker gains, and what the victim loses. */
  function attack(dust: bigint, gift: bigint, victims: bigint): { gain: bigint; lost: bigint } {
    const pool = new PoolModel()
    const minted = pool.deposit(0, FIRST_DEPOSIT_MIN) ?? 0n
    const taken = pool.withdraw(0, minted - dust)
    pool.micros += gift
    const entered = pool.deposit(1, victims) !== undefined
    const gain = taken + pool.withdrawAll(0) - FIRST_DEPOSIT_MIN - gift
    return { gain, lost: entered ? victims - pool.withdrawAll(1) : 0n }
  }

  test('the attacker never gains, whatever shares are left, and whatever is given', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.bigInt({ min: 0n, max: 10n }),
          fc.bigInt({ min: 0n, max: 10n ** 9n }),
          fc.bigInt({ min: 0n, max: 10n ** 14n }),
        ),
        fc.oneof(fc.bigInt({ min: 0n, max: USD }), fc.bigInt({ min: 0n, max: 10n ** 15n })),
        fc.oneof(fc.bigInt({ min: 1n, max: USD }), fc.bigInt({ min: 1n, max: 10n ** 13n })),
        (dust, gift, victims) => {
          expect(attack(dust, gift, victims).gain).toBeLessThanOrEqual(0n)
        },
      ),
      { numRuns: 5_000 },
    )
  })

  test('the victim loses at most 0.01 % or 2 micro-dollars; a deposit that would lose more is rejected', () => {
    for (const dust of [0n, 1n, 1_000n, 1_000_000n, 10n ** 9n, 10n ** 12n])
      for (const gift of [0n, 1n, USD, 1_000n * USD, 1_000_000n * USD, 10n ** 9n * USD])
        for (const victims of [1n, USD, 99_999_999n, 100n * USD, 10_000n * USD, 1_000_000n * USD]) {
          const { gain, lost } = attack(dust, gift, victims)
          const tolerance = victims / 10_000n > 2n ? victims / 10_000n : 2n
          expect(gain).toBeLessThanOrEqual(0n)
          expect(lost).toBeLessThanOrEqual(tolerance)
        }
  })
})

describe('mintProblem', () => {
  test('the first deposit is at least 100 USD', () => {
    expect(mintProblem(usdc(99_999_999n), EMPTY)).toBe('below_first_minimum')
    expect(mintProblem(FIRST_DEPOSIT_MIN, EMPTY)).toBeUndefined()
    expect(sharesFor(FIRST_DEPOSIT_MIN, EMPTY)).toBe(100n * SHARE)
  })

  test('later deposits can be small, but must be worth a share and lose little', () => {
    expect(mintProblem(usdc(1n), { micros: 100n * USD, shares: 100n * SHARE })).toBeUndefined()
    const inflated = { micros: 10n ** 15n, shares: 1n }
    expect(mintProblem(usdc(USD), inflated)).toBe('worth_nothing')
    expect(mintProblem(usdc(1_900_000_000n), inflated)).toBe('loses_too_much')
    expect(mintProblem(usdc(0n), { micros: 100n * USD, shares: 100n * SHARE })).toBe('worth_nothing')
  })
})

test('a pool that everybody left can be filled again, and the rest of rounding helps nobody', () => {
  const random = randomFrom(7)
  const pool = new PoolModel()
  for (let round = 0; round < 1_000; round++) {
    expect(pool.deposit(0, 99_999_999n)).toBeUndefined()
    const amounts = [random.between(1e8, 1e12), random.between(1, 1e12)]
    expect(pool.deposit(0, amounts[0] ?? 0n)).toBeDefined()
    pool.deposit(1, amounts[1] ?? 0n)
    pool.micros += percent(pool.micros, random.below(3))
    pool.withdrawAll(0)
    pool.withdrawAll(1)
    expect(pool.equity.shares).toBe(0n)
    expect(pool.micros).toBeLessThan(10n * USD)
  }
})

test('of an empty pool, one share is worth 1 USD', () => {
  expect(valueOfShares(SHARE, EMPTY)).toBe(USD)
})

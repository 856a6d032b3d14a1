import type { Observation } from '@market/core/ports/chain'
import { formatPurpose, transferName } from '@market/money/payments'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InMemoryChain, newPayment } from './in-memory-chain.ts'
import { AGE_MS, openPaymentFixture, outcome, type PaymentFixture } from './payment-fixture.ts'

const SEQUENCES = Number(process.env['PAYMENT_SEQUENCES'] ?? 80)
const LONGEST = 14
const PARALLEL = 4
const SECOND = 1_000
const DAY = 86_400 * SECOND
const PAYERS = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]

type Act =
  | { readonly act: 'arrive'; readonly parts: readonly { readonly by: number; readonly amount: bigint }[] }
  | {
      readonly act: 'claim'
      readonly of: number
      readonly payer: number
      readonly purpose: number
      readonly due: bigint
    }
  | { readonly act: 'watch'; readonly pages: readonly number[] }
  | { readonly act: 'recheck'; readonly afterMs: number }
  | { readonly act: 'misreport'; readonly observation: Observation }
  | { readonly act: 'undo'; readonly depth: number }
  | { readonly act: 'mineAgain'; readonly of: number; readonly more: bigint }
  | { readonly act: 'finalize'; readonly lag: number }
  | { readonly act: 'outage' }

const as = <K extends Act['act']>(act: K) => fc.constant(act)
const small = fc.nat({ max: 3 })
const acts: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: as('arrive'),
      parts: fc.array(fc.record({ by: fc.nat({ max: 1 }), amount: fc.bigInt({ min: 1n, max: 20n }) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      act: as('claim'),
      of: small,
      payer: fc.nat({ max: 2 }),
      purpose: fc.nat({ max: 2 }),
      due: fc.bigInt({ min: 1n, max: 20n }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: as('watch'),
      pages: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ act: as('recheck'), afterMs: fc.constantFrom(6 * SECOND, AGE_MS / 2, AGE_MS) }),
  },
  { weight: 3, arbitrary: fc.record({ act: as('undo'), depth: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({ act: as('mineAgain'), of: small, more: fc.constantFrom(0n, 0n, 0n, 3n, -3n) }),
  },
  { weight: 1, arbitrary: fc.record({ act: as('finalize'), lag: small }) },
  { weight: 1, arbitrary: fc.record({ act: as('outage') }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: as('misreport'),
      observation: fc.constantFrom<Observation>(
        { kind: 'pending', reason: 'unknown' },
        { kind: 'pending', reason: 'reorg' },
        { kind: 'rejected', reason: 'failed_on_chain' },
      ),
    }),
  },
)

const REJECTIONS = [
  ...['transfer_used', 'already_paid', 'wrong_payer', 'underpaid', 'ambiguous_payer', 'pending'],
  // The block of the transfer was replaced after it was read.
  'unavailable',
]

class PaymentModel {
  private readonly chain: InMemoryChain
  private readonly references: string[] = []
  /** The expected claimed amount of each purpose, from the claims and the reported reversals. */
  private readonly paid = new Map<string, bigint>()
  private reversed: number
  private readonly fixture: PaymentFixture
  private readonly run: string

  constructor(chain: InMemoryChain, fixture: PaymentFixture, run: string) {
    this.chain = chain
    this.fixture = fixture
    this.run = run
    this.reversed = fixture.gone.length
  }

  async step(act: Act): Promise<void> {
    const { chain, fixture } = this
    switch (act.act) {
      case 'arrive': {
        const payment = newPayment(act.parts.map(({ by, amount }) => [PAYERS[by] ?? '', amount]))
        this.references.push(payment.reference)
        return chain.mine([payment])
      }
      case 'claim':
        return this.claim(act)
      case 'watch':
        await Promise.all(act.pages.map((size) => fixture.watch(size)))
        return
      case 'recheck':
        await Promise.all([fixture.recheck(act.afterMs), fixture.recheck(0)])
        return
      case 'misreport':
        chain.forcedObservation = act.observation
        await fixture.recheck()
        chain.forcedObservation = undefined
        await fixture.recheck()
        return
      case 'undo':
        return chain.reorg(act.depth)
      case 'mineAgain':
        return chain.mineAgain(act.of, act.more)
      case 'finalize':
        return chain.finalize(act.lag)
      case 'outage': {
        const before = await fixture.states()
        chain.isUnavailable = true
        await fixture.recheck(AGE_MS).catch(() => undefined)
        await fixture.watch().catch(() => undefined)
        chain.isUnavailable = false
        expect(await fixture.states()).toEqual(before)
        return
      }
    }
  }

  private async claim({ of, payer, purpose, due }: Extract<Act, { act: 'claim' }>): Promise<void> {
    const reference = this.references.at(-1 - of)
    if (reference === undefined) return
    const what = `order:${this.run}:${purpose}`
    const named = PAYERS[payer]
    const answer = await outcome(
      this.fixture.claim(reference, what, { due, ...(named === undefined ? {} : { payers: [named] }) }),
    )
    if (typeof answer === 'string') return expect(REJECTIONS).toContain(answer)
    if (!answer.isNew) return
    this.hear()
    expect(this.paid.has(what)).toBe(false)
    this.paid.set(what, due)
  }

  /** What was taken back since is no longer paid. */
  private hear(): void {
    for (const { purpose } of this.fixture.gone.slice(this.reversed))
      expect(this.paid.delete(formatPurpose(purpose))).toBe(true)
    this.reversed = this.fixture.gone.length
  }

  async agree(): Promise<void> {
    this.hear()
    for (let n = 0; n < 3; n++) {
      const what = `order:${this.run}:${n}`
      expect(await this.fixture.inEscrow(what)).toBe(this.paid.get(what) ?? 0n)
    }
  }

  /** After enough rechecks the ledger equals the chain balance. */
  async comeToRest(): Promise<void> {
    const { chain, fixture } = this
    await fixture.watch(3)
    for (const afterMs of [6 * SECOND, AGE_MS]) await fixture.recheck(afterMs)
    await this.agree()
    chain.finalize(0)
    // What is on the chain with another amount is reversed first and final then.
    for (const afterMs of [2 * DAY, 6 * SECOND]) await fixture.recheck(afterMs)
    await this.agree()
    expect(await fixture.recheck()).toBe(0)
    await fixture.expectExact(chain.holds)
    const states = await fixture.states()
    const onChain = new Set(
      chain.payments.flatMap(({ reference, parts }) =>
        parts.map((_, index) => transferName({ reference, index })),
      ),
    )
    for (const [name, state] of states) expect(state.startsWith('gone')).toBe(!onChain.has(name))
    expect(onChain.isSubsetOf(new Set(states.keys()))).toBe(true)
  }
}

test('model: the ledger equals the chain after any sequence of payments, claims, checks and reorganizations', {
  timeout: 120_000 + SEQUENCES * 2_000,
}, async () => {
  const stories = fc.array(acts, { minLength: 3, maxLength: LONGEST })
  let runs = 0
  const runOne = async () => {
    // Both outlive a model, so that late faults show too.
    const chain = new InMemoryChain()
    chain.providers = 2
    const fixture = await openPaymentFixture(chain, chain.clock)
    try {
      await fc.assert(
        fc.asyncProperty(stories, async (acts) => {
          const model = new PaymentModel(chain, fixture, String(runs++))
          for (const act of acts) {
            await model.step(act)
            await model.agree()
          }
          await model.comeToRest()
        }),
        { numRuns: Math.ceil(SEQUENCES / PARALLEL) },
      )
    } finally {
      await fixture.stop()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
})

import type { Observation } from '@market/core/ports/chain'
import { formatPurpose } from '@market/money/payments'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newPayment, PaperChain } from './paper-chain.ts'
import { AGE_MS, openTill, outcome, type Till } from './till.ts'

const SEQUENCES = Number(process.env['PAYMENT_SEQUENCES'] ?? 80)
const LONGEST = 14
const PARALLEL = 4
const SECOND = 1_000
const DAY = 86_400 * SECOND
const PAYERS = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`]

type Act =
  | { readonly act: 'arrive'; readonly parts: readonly bigint[] }
  | {
      readonly act: 'claim'
      readonly of: number
      readonly payer: number
      readonly purpose: number
      readonly due: bigint
    }
  | { readonly act: 'watch'; readonly pages: readonly number[] }
  | { readonly act: 'recheck'; readonly afterMs: number }
  | { readonly act: 'lie'; readonly look: Observation }
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
      parts: fc.array(fc.bigInt({ min: 1n, max: 20n }), { minLength: 1, maxLength: 2 }),
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
      act: as('lie'),
      look: fc.constantFrom<Observation>(
        { kind: 'pending', reason: 'unknown' },
        { kind: 'pending', reason: 'reorg' },
        { kind: 'rejected', reason: 'failed_on_chain' },
      ),
    }),
  },
)

const REFUSALS = ['transfer_used', 'already_paid', 'wrong_payer', 'underpaid', 'ambiguous_payer', 'pending']

class Story {
  private readonly chain: PaperChain
  private readonly references: string[] = []
  /** What each purpose is owed by the ledger, as whoever acts on payments was told. */
  private readonly paid = new Map<string, bigint>()
  private told: number
  private readonly till: Till
  private readonly run: string

  constructor(chain: PaperChain, till: Till, run: string) {
    this.chain = chain
    this.till = till
    this.run = run
    this.told = till.gone.length
  }

  async step(act: Act): Promise<void> {
    const { chain, till } = this
    switch (act.act) {
      case 'arrive': {
        const payment = newPayment(new Map(act.parts.map((part, n) => [PAYERS[n] ?? '', part])))
        this.references.push(payment.reference)
        return chain.mine([payment])
      }
      case 'claim':
        return this.claim(act)
      case 'watch':
        await Promise.all(act.pages.map((size) => till.watch(size)))
        return
      case 'recheck':
        await Promise.all([till.recheck(act.afterMs), till.recheck(0)])
        return
      case 'lie':
        chain.lie = act.look
        await till.recheck()
        chain.lie = undefined
        await till.recheck()
        return
      case 'undo':
        return chain.reorg(act.depth)
      case 'mineAgain':
        return chain.mineAgain(act.of, act.more)
      case 'finalize':
        return chain.finalize(act.lag)
      case 'outage': {
        const before = await till.states()
        chain.isAway = true
        await till.recheck(AGE_MS).catch(() => undefined)
        await till.watch().catch(() => undefined)
        chain.isAway = false
        expect(await till.states()).toEqual(before)
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
      this.till.claim(reference, what, { due, ...(named === undefined ? {} : { payers: [named] }) }),
    )
    if (typeof answer === 'string') return expect(REFUSALS).toContain(answer)
    if (!answer.isNew) return
    this.hear()
    expect(this.paid.has(what)).toBe(false)
    this.paid.set(what, due)
  }

  /** What was taken back since is no longer paid. */
  private hear(): void {
    for (const { purpose } of this.till.gone.slice(this.told))
      expect(this.paid.delete(formatPurpose(purpose))).toBe(true)
    this.told = this.till.gone.length
  }

  async agree(): Promise<void> {
    this.hear()
    for (let n = 0; n < 3; n++) {
      const what = `order:${this.run}:${n}`
      expect(await this.till.inEscrow(what)).toBe(this.paid.get(what) ?? 0n)
    }
  }

  /** Left alone for long enough, the ledger are what the chain holds. */
  async comeToRest(): Promise<void> {
    const { chain, till } = this
    await till.watch(3)
    for (const afterMs of [6 * SECOND, AGE_MS, AGE_MS]) await till.recheck(afterMs)
    await this.agree()
    await till.expectExact(chain.holds)
    chain.finalize(0)
    await till.recheck(2 * DAY)
    expect(await till.recheck()).toBe(0)
    await till.expectExact(chain.holds)
    const states = await till.states()
    const onChain = new Set(chain.payments.map(({ reference }) => reference))
    for (const [reference, state] of states) expect(state.startsWith('gone')).toBe(!onChain.has(reference))
    expect(onChain.isSubsetOf(new Set(states.keys()))).toBe(true)
  }
}

test('model: the ledger equals the chain after any sequence of payments, claims, checks and reorganisations', {
  timeout: 120_000,
}, async () => {
  const stories = fc.array(acts, { minLength: 3, maxLength: LONGEST })
  let told = 0
  const runOne = async () => {
    // Both outlive a story, so that late faults show too.
    const chain = new PaperChain()
    const till = await openTill(chain, chain.clock)
    try {
      await fc.assert(
        fc.asyncProperty(stories, async (acts) => {
          const story = new Story(chain, till, String(told++))
          for (const act of acts) {
            await story.step(act)
            await story.agree()
          }
          await story.comeToRest()
        }),
        { numRuns: Math.ceil(SEQUENCES / PARALLEL) },
      )
    } finally {
      await till.stop()
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOne))
})

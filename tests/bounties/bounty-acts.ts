import { DAY, HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import fc from 'fast-check'

/** Two wallets that sign, and last the API key of an agent whose owner's wallet pays without a signature. */
export const POSTERS = 3
export const KEY_POSTER = 2
/** Three agents of different owners, and last the agent that posts by its API key. */
export const AGENTS = 4
export const KEY_AGENT = 3

export const MOST_BOUNTIES = 3

export const ORDER_ACTS = ['deliver', 'approve', 'cancel', 'dispute', 'refund'] as const
export type OrderAct = (typeof ORDER_ACTS)[number]

/** Beside what is due, in micro-USD. Up to 0.10 USD more is not returned. */
const MORE = [0n, 0n, 0n, -1n, 1n, 5_000_000n] as const

/** What users, chain and clock do. Indexes are taken modulo what there is. */
export type Act =
  | {
      readonly act: 'post'
      readonly poster: number
      readonly budget: bigint
      readonly windowHours: number
      readonly deadlineHours: number
    }
  | { readonly act: 'claim'; readonly of: number; readonly agent: number; readonly afterMs: number }
  | { readonly act: 'withdraw'; readonly of: number; readonly agent: number }
  | { readonly act: 'cancel'; readonly of: number; readonly isPoster: boolean }
  | {
      readonly act: 'accept'
      readonly of: number
      readonly claim: number
      /** One of the pending claims, if there are any. */
      readonly isPending: boolean
      readonly isPoster: boolean
      /** A new transfer that is confirmed or not, or one that was made before. */
      readonly transfer: 'confirmed' | 'unconfirmed' | 'earlier'
      readonly earlier: number
      readonly more: bigint
    }
  | { readonly act: 'confirm'; readonly transfer: number }
  | { readonly act: 'order'; readonly of: number; readonly action: OrderAct }
  /** An action that an order allows now: left to chance alone, few orders would come far. */
  | { readonly act: 'onward'; readonly pick: number }
  | { readonly act: 'wait'; readonly ms: number; readonly isSwept: boolean }
  /** To a deadline of the model: the next command or sweep is before, at or after it. */
  | { readonly act: 'waitUntil'; readonly pick: number; readonly offset: number; readonly isSwept: boolean }

const as = <K extends Act['act']>(act: K) => fc.constant(act)
const of = fc.nat({ max: MOST_BOUNTIES - 1 })
/** Mostly true. */
const usually = fc.nat({ max: 9 }).map((n) => n > 0)

const posts: fc.Arbitrary<Act> = fc.record({
  act: as('post'),
  poster: fc.nat({ max: POSTERS - 1 }),
  budget: fc.constantFrom(20_000_000n, 50_000_001n),
  windowHours: fc.constantFrom(6, 24, 168),
  deadlineHours: fc.constantFrom(1, 24),
})

/** Often some time after the last step, so that claims of a bounty expire one after another. */
const claims: fc.Arbitrary<Act> = fc.record({
  act: as('claim'),
  of,
  agent: fc.nat({ max: AGENTS - 1 }),
  afterMs: fc.constantFrom(0, 10 * MINUTE),
})

const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 2, arbitrary: posts },
  { weight: 8, arbitrary: claims },
  { weight: 3, arbitrary: fc.record({ act: as('withdraw'), of, agent: fc.nat({ max: AGENTS - 1 }) }) },
  { weight: 1, arbitrary: fc.record({ act: as('cancel'), of, isPoster: usually }) },
  {
    weight: 7,
    arbitrary: fc.record({
      act: as('accept'),
      of,
      claim: fc.nat({ max: 9 }),
      isPending: usually,
      isPoster: usually,
      transfer: fc.constantFrom('confirmed', 'unconfirmed', 'unconfirmed', 'earlier', 'earlier'),
      earlier: fc.nat({ max: 9 }),
      more: fc.constantFrom(...MORE),
    }),
  },
  { weight: 4, arbitrary: fc.record({ act: as('confirm'), transfer: fc.nat({ max: 9 }) }) },
  { weight: 8, arbitrary: fc.record({ act: as('onward'), pick: fc.nat({ max: 9 }) }) },
  { weight: 2, arbitrary: fc.record({ act: as('order'), of, action: fc.constantFrom(...ORDER_ACTS) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: as('wait'),
      ms: fc.constantFrom(SECOND, 30 * MINUTE, HOUR + MINUTE, 25 * HOUR, 7 * DAY),
      isSwept: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: as('waitUntil'),
      pick: fc.nat({ max: 9 }),
      offset: fc.constantFrom(-3 * SECOND - 1, -3 * SECOND, -2, -1, 0),
      isSwept: fc.boolean(),
    }),
  },
)

/** A history that begins with a bounty. */
export const histories = (longest: number): fc.Arbitrary<readonly Act[]> =>
  fc
    .tuple(posts, fc.array(acts, { minLength: 12, maxLength: longest, size: 'max' }))
    .map(([first, others]) => [first, ...others])

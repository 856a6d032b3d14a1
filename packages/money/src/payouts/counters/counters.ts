import { DAY, earlier, HOUR } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import type { Payout } from '../payout.ts'

/** What a round of a payout costs in the native coin: estimated at `at`, when it was authorized, later the real cost. */
export interface RoundCost {
  readonly native: bigint
  readonly at: Date
}

/** The figures of a counter, or by how much they change. */
export interface Figures {
  /** What counts against the caps. */
  readonly capped: bigint
  /** The part of it that is not final. */
  readonly cappedInFlight: bigint
  /** Authorized and not final. */
  readonly inFlight: bigint
  /** What they cost in the native coin. */
  readonly native: bigint
}

export interface CounterChange extends Figures {
  readonly network: Network
  readonly scope: string
  readonly hour: Date
}

const NOTHING: Figures = { capped: 0n, cappedInFlight: 0n, inFlight: 0n, native: 0n }

export const NETWORK_SCOPE = '*'
/** What leaves Earn is capped apart, so that it cannot use up the cap of what agents earn. */
export const EARN_SCOPE = 'earn'

/** The scope whose cap of a day limits a payout. */
export const dayScope = ({ kind }: Pick<Payout, 'kind'>): string =>
  kind === 'earn_withdrawal' ? EARN_SCOPE : NETWORK_SCOPE

/** The caps limit what an address gets, and what an agent gets at all its addresses. */
export function payeeScopes({ payee, agentId }: Pick<Payout, 'payee' | 'agentId'>): string[] {
  const ofAgent = agentId === null ? [] : [`agent:${agentId}`]
  return payee === null ? ofAgent : [...ofAgent, `payee:${addressOf(payee)}`]
}

/** Who may write the row could write an EVM address with other capital letters: it is still one payee. */
const addressOf = (payee: string): string => (payee.startsWith('0x') ? payee.toLowerCase() : payee)

export const scopesOf = (payout: Pick<Payout, 'kind' | 'payee' | 'agentId'>): string[] => [
  NETWORK_SCOPE,
  dayScope(payout),
  ...payeeScopes(payout),
]

const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR) * HOUR)

/** The caps count the current hour and the 24 before it, so between 24 and 25 hours: never less than a day. */
export const windowStart = (now: Date): Date => hourOf(earlier(now, DAY))

/**
 * By how much the counters change when a payout changes. Counters are the sum of `partsOf` over all payouts and costs, so
 * whatever the change is, they stay that sum.
 */
export const counterChanges = (
  before: { readonly payout: Payout; readonly cost?: RoundCost | undefined },
  after: { readonly payout: Payout; readonly cost?: RoundCost | undefined },
): CounterChange[] => [
  ...partsOf(after.payout, after.cost),
  ...partsOf(before.payout, before.cost).map((part) => ({ ...part, ...plus(NOTHING, part, -1n) })),
]

/** What a payout and the cost of its round add to the counters. */
function partsOf(payout: Payout, cost: RoundCost | undefined): CounterChange[] {
  const { network, amount, state, countedAt, countsAgainstCaps } = payout
  const part = (scope: string, at: Date, figures: Partial<Figures>): CounterChange => ({
    ...{ network, scope, hour: hourOf(at), ...NOTHING },
    ...figures,
  })
  const ofCost = cost === undefined ? [] : [part(NETWORK_SCOPE, cost.at, { native: cost.native })]
  if (countedAt === null) return ofCost
  const capped = countsAgainstCaps ? amount : 0n
  const [inFlight, cappedInFlight] = state === 'final' ? [0n, 0n] : [amount, capped]
  return [
    ...ofCost,
    part(NETWORK_SCOPE, countedAt, { inFlight }),
    ...[dayScope(payout), ...payeeScopes(payout)].map((scope) =>
      part(scope, countedAt, { capped, cappedInFlight }),
    ),
  ]
}

/** One change per counter that changes, in the order in which every transaction locks them. */
export function mergeChanges(changes: readonly CounterChange[]): CounterChange[] {
  const merged = new Map<string, CounterChange>()
  for (const change of changes) {
    const key = `${change.network} ${change.scope} ${change.hour.toISOString()}`
    const known = merged.get(key) ?? { ...change, ...NOTHING }
    merged.set(key, { ...known, ...plus(known, change) })
  }
  return [...merged.entries()]
    .filter(([, change]) => figuresOf(change).some((figure) => figure !== 0n))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, change]) => change)
}

export const figuresOf = ({ capped, cappedInFlight, inFlight, native }: Figures): bigint[] => [
  capped,
  cappedInFlight,
  inFlight,
  native,
]

const plus = (a: Figures, b: Figures, times = 1n): Figures => ({
  capped: a.capped + times * b.capped,
  cappedInFlight: a.cappedInFlight + times * b.cappedInFlight,
  inFlight: a.inFlight + times * b.inFlight,
  native: a.native + times * b.native,
})

/** What the counters of a network say about some payouts. */
export interface Counted {
  /** By scope: of the last 24 to 25 hours, and what is in flight for longer. */
  readonly capped: ReadonlyMap<string, bigint>
  readonly native: bigint
  /** Of all time. */
  readonly inFlight: bigint
}

export const cappedOf = ({ capped }: Counted, scope: string): bigint => capped.get(scope) ?? 0n

/** With changes of the current hour. */
export function withChanges(counted: Counted, changes: readonly CounterChange[]): Counted {
  const capped = new Map(counted.capped)
  let { native, inFlight } = counted
  for (const change of changes) {
    capped.set(change.scope, (capped.get(change.scope) ?? 0n) + change.capped)
    native += change.native
    inFlight += change.inFlight
  }
  return { capped, native, inFlight }
}

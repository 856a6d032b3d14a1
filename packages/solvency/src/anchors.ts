import { outcome, type ReserveCheck } from './check.ts'
import { anchorProblem, MAX_ANCHOR_AGE_MS, textProblem } from './check-anchor.ts'
import type { NetworkSolvency, ReserveAnchor } from './merkle-proof.ts'

const SOLANA = 'solana-mainnet'

/** What the user knows, and the API therefore cannot invent. */
interface KnownAnchor {
  readonly rpcs: Readonly<Record<string, string>>
  readonly treasuries: Readonly<Record<string, string>>
}

export interface Anchors {
  readonly listed: readonly ReserveAnchor[]
  /** The newest one that the API says is on the chain. */
  readonly newest: ReserveAnchor | undefined
  /** Whether roots must be anchored. */
  readonly isRequired: boolean
  /** Whether they are read from a Solana node. */
  readonly isRead: boolean
  /** Whether the user named the treasury that signs them. */
  readonly isSignerKnown: boolean
  /** What is wrong with an anchor: on the chain, or without a Solana node in its text. Each is read once. */
  readonly problemOf: (anchor: ReserveAnchor) => Promise<string | undefined>
}

export function anchorsOf(
  networks: readonly NetworkSolvency[],
  listed: readonly ReserveAnchor[],
  { rpcs, treasuries }: KnownAnchor,
  isRequired: boolean,
): Anchors {
  const [newest] = listed
    .filter(({ anchored }) => anchored !== null)
    .sort((one, other) => (one.day < other.day ? 1 : -1))
  const rpc = isRequired ? rpcs[SOLANA] : undefined
  const treasury = treasuries[SOLANA] ?? networks.find(({ network }) => network === SOLANA)?.treasury
  const problems = new Map<ReserveAnchor, Promise<string | undefined>>()
  const problemOf = (anchor: ReserveAnchor) => {
    const problem =
      problems.get(anchor) ??
      (rpc === undefined
        ? Promise.resolve(textProblem(anchor))
        : anchorProblem(anchor, { rpc, treasury, listed, isNewest: anchor === newest }))
    problems.set(anchor, problem)
    return problem
  }
  const isSignerKnown = treasuries[SOLANA] !== undefined
  return { listed, newest, isRequired, isRead: rpc !== undefined, isSignerKnown, problemOf }
}

export async function checkAnchors(anchors: Anchors): Promise<ReserveCheck[]> {
  const { listed, newest, isRequired } = anchors
  const days = listed.map(({ day }) => day)
  const twice = [...new Set(days.filter((day, at) => days.indexOf(day) < at))].map((day) =>
    outcome(`anchor ${day}`, 'the API lists this day twice'),
  )
  if (!isRequired) return twice
  if (newest === undefined) return [...twice, outcome('anchor', 'no day is anchored')]
  // A day that cannot be read is not a recent one.
  const isRecent = Date.parse(newest.day) >= Date.now() - MAX_ANCHOR_AGE_MS
  const age = isRecent ? [] : [outcome('anchor age', `the newest anchor is of ${newest.day}`)]
  return [...twice, ...age, await checkNewest(newest, anchors)]
}

async function checkNewest(newest: ReserveAnchor, anchors: Anchors): Promise<ReserveCheck> {
  const { isRead, isSignerKnown, problemOf } = anchors
  const check = `anchor ${newest.day}`
  const problem = await problemOf(newest)
  const { signature, account } = newest.anchored ?? {}
  if (problem !== undefined) return outcome(check, problem)
  if (!isRead)
    return {
      result: 'skipped',
      check,
      detail: `not read from the chain: no --rpc for ${SOLANA}`,
      missing: [`--rpc ${SOLANA}=https://…`],
    }
  if (isSignerKnown) return outcome(check, undefined, `${signature}, signed by the treasury ${account}`)
  return {
    result: 'warning',
    check,
    detail: `${signature}, signed by ${account}. Only the API says that it is the treasury: it can name another account and other roots to other users`,
    missing: [`--treasury ${SOLANA}=<address>`],
  }
}

import {
  type Anchors,
  anchoredFor,
  anchorsOf,
  inclusionProblem,
  isOf,
  type LiabilityProof,
  type NetworkSolvency,
  publishedFor,
  type ReserveAnchor,
  rootBy,
  usd,
} from '@market/solvency'

/** A step of a check. `unknown`: nothing is wrong, and nothing is shown. */
export interface Step {
  readonly result: 'ok' | 'failed' | 'unknown'
  readonly what: string
  readonly detail: string
}

export interface CheckedProof {
  readonly proof: LiabilityProof
  readonly steps: readonly Step[]
}

export interface Published {
  readonly networks: readonly NetworkSolvency[]
  readonly anchors: readonly ReserveAnchor[]
  /** A Solana node that the pages may ask; undefined when the operator named none. */
  readonly solanaNode: string | undefined
  /** The account that signs anchors, when the visitor knows it. */
  readonly knownTreasury?: string
}

const SOLANA = 'solana-mainnet'
const MAX_PROOFS = 100

/** The proofs of a saved response of GET /api/solvency/proof. Throws a sentence when the text is something else. */
export function readSavedProofs(text: string): readonly LiabilityProof[] {
  const problem = 'This file is not a saved response of GET /api/solvency/proof.'
  let saved: unknown
  try {
    saved = JSON.parse(text)
  } catch {
    throw new Error(problem)
  }
  const list = Array.isArray(saved) ? saved : (saved as { data?: unknown } | null)?.data
  if (!Array.isArray(list) || !list.every(isProof)) throw new Error(problem)
  if (list.length === 0) throw new Error('The file lists no debt: nothing was owed to you.')
  return list.slice(0, MAX_PROOFS)
}

const isText = (value: unknown): value is string => typeof value === 'string'

function isProof(value: unknown): value is LiabilityProof {
  const { network, snapshot_id, leaf, path } = (value ?? {}) as Partial<LiabilityProof>
  const { account, holder, micros, salt } = leaf ?? {}
  return (
    [network, snapshot_id, account, holder, micros, salt].every(isText) &&
    Array.isArray(path) &&
    path.every((step) => isText(step?.hash) && isText(step.sum) && isText(step.side))
  )
}

/** The checks of `market solvency verify` for one debt, each as a step. They run here; no step asks the API. */
export async function checkProof(proof: LiabilityProof, published: Published): Promise<CheckedProof> {
  const { networks, anchors, solanaNode, knownTreasury } = published
  const treasuries = knownTreasury === undefined ? {} : { [SOLANA]: knownTreasury }
  const rpcs = solanaNode === undefined ? {} : { [SOLANA]: solanaNode }
  const known = anchorsOf(networks, anchors, { rpcs, treasuries }, true)
  const anchor = anchors.find(
    (one) => one.anchored !== null && one.networks.some((entry) => isOf(proof, entry)),
  )
  const expected = anchor === undefined ? publishedFor(proof, networks) : anchoredFor(proof, anchor)
  const result = rootBy(proof)
  const problem = inclusionProblem(proof, expected)
  const hashed: Step =
    result === undefined
      ? {
          result: 'failed',
          what: 'A sum is not a number of zero or more',
          detail: 'A negative sum would hide a debt.',
        }
      : {
          result: 'ok',
          what: `Your leaf hashed with its salt, and ${proof.path.length} steps to the root`,
          detail: `${proof.leaf.micros} micro-USDC → ${result.hash}`,
        }
  const compared: Step =
    problem === undefined
      ? {
          result: 'ok',
          what: `Root and total equal the ones that are ${expected?.where}`,
          detail: `${expected?.root} · ${usd(expected?.sum ?? 0n)} USDC`,
        }
      : { result: 'failed', what: 'Not included', detail: problem }
  return { proof, steps: [hashed, compared, await anchorStep(anchor, known)] }
}

async function anchorStep(
  anchor: ReserveAnchor | undefined,
  { problemOf, isRead, isSignerKnown }: Anchors,
): Promise<Step> {
  if (anchor?.anchored == null)
    return {
      result: 'unknown',
      what: 'Not anchored yet',
      detail: 'Each day one root is published on Solana. Check again with a proof of an anchored snapshot.',
    }
  const { day, text, anchored } = anchor
  let wrong: string | undefined
  try {
    wrong = await problemOf(anchor)
  } catch (error) {
    return {
      result: 'unknown',
      what: `The memo of ${day} could not be read`,
      detail: error instanceof Error ? error.message : String(error),
    }
  }
  if (wrong !== undefined) return { result: 'failed', what: `The anchor of ${day} is wrong`, detail: wrong }
  if (!isRead)
    return {
      result: 'unknown',
      what: `The text of ${day} is the hash of the listed roots, but this page did not read it from the chain`,
      detail: `Compare it with the memo of ${anchored.signature}: ${text}`,
    }
  if (!isSignerKnown)
    return {
      result: 'unknown',
      what: `The same root is in the memo of ${day}, signed by ${anchored.account}: compare it with the address you know`,
      detail: `Only the server says that this account is the treasury. ${anchored.signature} · ${text}`,
    }
  return {
    result: 'ok',
    what: `The same root is in the memo of ${day}, signed by ${anchored.account}`,
    detail: `${anchored.signature} · ${text}`,
  }
}

/** What all steps say together. */
export function verdictOf(steps: readonly Step[]): Step['result'] {
  if (steps.some(({ result }) => result === 'failed')) return 'failed'
  return steps.every(({ result }) => result === 'ok') ? 'ok' : 'unknown'
}

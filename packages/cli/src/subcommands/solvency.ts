import { readFile } from 'node:fs/promises'
import { command, type Options } from '../command.ts'
import { wholeNumber } from '../options.ts'
import type { Session } from '../session.ts'
import { anchorProblem, textProblem } from '../solvency/check-anchor.ts'
import { checkTreasuries } from '../solvency/check-treasuries.ts'
import {
  anchoredFor,
  inclusionProblem,
  isOf,
  type LiabilityProof,
  type NetworkSolvency,
  publishedFor,
  type ReserveAnchor,
  usd,
} from '../solvency/merkle-proof.ts'
import type { Check } from '../terminal/printer.ts'
import { CommandError, UsageError } from '../usage-error.ts'

const USDC: Readonly<Record<string, string>> = {
  'solana-mainnet': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'base-mainnet': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
}
const SOLANA = 'solana-mainnet'
const MAX_ANCHOR_AGE_DAYS = 2
const DAY_MS = 86_400_000

const OPTIONS = {
  rpc: {
    type: 'string',
    multiple: true,
    value: 'network=url',
    about: 'a node that you trust, for each network',
  },
  usdc: {
    type: 'string',
    multiple: true,
    value: 'network=address',
    about: 'the USDC token, where it is not the one of Solana or Base mainnet',
  },
  treasury: {
    type: 'string',
    multiple: true,
    value: 'network=address',
    about: 'the treasury that you know; the one that the API says must be the same',
  },
  proof: {
    type: 'string',
    value: 'path',
    about: 'a saved response of GET /api/solvency/proof, instead of the credential',
  },
  'no-anchor': { type: 'boolean', about: 'do not require an anchor: a marketplace without Solana has none' },
  'max-age': {
    type: 'string',
    value: 'minutes',
    about: 'how old the newest snapshot of a treasury may be; 15 unless given',
  },
  tries: {
    type: 'string',
    value: 'n',
    about: 'how often a treasury is compared when money moves meanwhile; 3 unless given',
  },
  wait: { type: 'string', value: 'seconds', about: 'the time between tries; 10 unless given' },
} as const satisfies Options

export const verifySolvency = command({
  name: 'solvency verify',
  summary: 'Verify the proof of reserves on this machine',
  options: OPTIONS,
  notes: [
    'Checks that what is owed to you is part of the published roots, that these are anchored on Solana, and that\nthe treasuries hold what is owed. Compare the listed leaves with what you know: a missing leaf is not reported.',
    'Use nodes that you trust. A network without --rpc is skipped.',
  ],
  examples: ['market solvency verify --rpc solana-mainnet=https://… --rpc base-mainnet=https://…'],
  run: async ({ values }, session) => {
    const rpcs = pairs('rpc', values.rpc)
    for (const [network, url] of Object.entries(rpcs))
      if (!URL.canParse(url)) throw new UsageError(`--rpc of ${network} is not a URL.`)
    const market = session.anonymous()
    const checks = await session.during('Verifying …', async () => {
      const networks = await market.getSolvency()
      const { data: anchors } = await market.listAnchors({ limit: 100 })
      const state = stateOf(networks, anchors, { rpcs, isAnchored: !values['no-anchor'] })
      const { asked, proofs } = await readProofs(values.proof, state.newest, session)
      const verified = state.newest && rpcs[SOLANA] && (await state.problemOf(state.newest)) === undefined
      return [
        ...(await checkAnchors(state)),
        ...asked,
        ...(await checkLeaves(state, proofs)),
        ...(await checkTreasuries(
          {
            networks,
            newest: state.newest,
            isVerified: verified === true && state.isAnchored,
            rpcs,
            tokens: { ...USDC, ...pairs('usdc', values.usdc) },
            treasuries: pairs('treasury', values.treasury),
            tries: wholeNumber('tries', values.tries) ?? 3,
            waitMs: (wholeNumber('wait', values.wait) ?? 10) * 1_000,
            maxAgeMs: (wholeNumber('max-age', values['max-age']) ?? 15) * 60_000,
          },
          market,
        )),
      ]
    })
    const failed = checks.filter(({ result }) => result === 'FAILED').length
    return {
      json: { ok: failed === 0, checks },
      ok: failed === 0,
      print: (printer) => printer.checks(checks),
    }
  },
})

interface State {
  readonly networks: readonly NetworkSolvency[]
  readonly anchors: readonly ReserveAnchor[]
  /** The newest anchor that is on the chain as the API says. */
  readonly newest: ReserveAnchor | undefined
  readonly rpcs: Readonly<Record<string, string>>
  /** Whether roots must be anchored. */
  readonly isAnchored: boolean
  /** What is wrong with an anchor: on the chain, or without a Solana node in its text. Each is read once. */
  readonly problemOf: (anchor: ReserveAnchor) => Promise<string | undefined>
}

function stateOf(
  networks: State['networks'],
  anchors: State['anchors'],
  { rpcs, isAnchored }: Pick<State, 'rpcs' | 'isAnchored'>,
): State {
  const [newest] = anchors
    .filter(({ anchored }) => anchored !== null)
    .sort((one, other) => (one.day < other.day ? 1 : -1))
  const rpc = isAnchored ? rpcs[SOLANA] : undefined
  const treasury = networks.find(({ network }) => network === SOLANA)?.treasury
  const problems = new Map<ReserveAnchor, Promise<string | undefined>>()
  const problemOf = (anchor: ReserveAnchor) => {
    const problem =
      problems.get(anchor) ??
      (rpc === undefined ? Promise.resolve(textProblem(anchor)) : anchorProblem(anchor, rpc, treasury))
    problems.set(anchor, problem)
    return problem
  }
  return { networks, anchors, newest, rpcs, isAnchored, problemOf }
}

function pairs(option: string, texts: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new UsageError(`--${option} is ${text}. Write --${option} base-mainnet=….`)
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}

const outcome = (check: string, problem: string | undefined, detail = ''): Check => ({
  result: problem === undefined ? 'ok' : 'FAILED',
  check,
  detail: problem ?? detail,
})

const skipped = (check: string, detail: string): Check => ({ result: 'skipped', check, detail })

async function checkAnchors(state: State): Promise<Check[]> {
  const { anchors, newest, rpcs, isAnchored } = state
  const days = anchors.map(({ day }) => day)
  const twice = [...new Set(days.filter((day, at) => days.indexOf(day) < at))].map((day) =>
    outcome(`anchor ${day}`, 'the API lists this day twice'),
  )
  if (!isAnchored) return twice
  if (newest === undefined) return [...twice, outcome('anchor', 'no day is anchored')]
  const name = `anchor ${newest.day}`
  // A day that cannot be read is not a recent one.
  const isRecent = Date.parse(newest.day) >= Date.now() - (MAX_ANCHOR_AGE_DAYS + 1) * DAY_MS
  const age = isRecent ? [] : [outcome('anchor age', `the newest anchor is of ${newest.day}`)]
  const problem = await state.problemOf(newest)
  const isUnchecked = problem === undefined && rpcs[SOLANA] === undefined
  return [
    ...twice,
    ...age,
    isUnchecked
      ? skipped(name, `no --rpc for ${SOLANA}`)
      : outcome(name, problem, newest.anchored?.signature),
  ]
}

interface Proofs {
  /** Failures of the requests. */
  readonly asked: readonly Check[]
  readonly proofs: readonly LiabilityProof[]
}

/** The caller's own proofs: of a file, or of the newest anchored snapshots, else of the newest published ones. */
async function readProofs(
  path: string | undefined,
  newest: ReserveAnchor | undefined,
  session: Session,
): Promise<Proofs> {
  if (path !== undefined) return { asked: [], proofs: await readSaved(path) }
  const { settings } = session
  if (settings.credential('agent') === undefined && settings.credential('user') === undefined)
    return { asked: [], proofs: [] }
  const { market } = session.signedIn('agent', 'user')
  if (newest === undefined) return { asked: [], proofs: (await market.getSolvencyProof({ limit: 100 })).data }
  const asked: Check[] = []
  const proofs: LiabilityProof[] = []
  for (const entry of newest.networks) {
    const { snapshot_id } = entry
    for (const proof of (await market.getSolvencyProof({ limit: 100, snapshot_id })).data)
      if (isOf(proof, entry)) proofs.push(proof)
      else
        asked.push(
          outcome(
            `leaf ${proof.leaf.account}`,
            `the API returned snapshot ${proof.snapshot_id} of ${proof.network} instead of ${snapshot_id} of ${entry.network}`,
          ),
        )
  }
  return { asked, proofs }
}

async function readSaved(path: string): Promise<readonly LiabilityProof[]> {
  try {
    const saved = JSON.parse(await readFile(path, 'utf8')) as
      | LiabilityProof[]
      | { readonly data: LiabilityProof[] }
    return Array.isArray(saved) ? saved : saved.data
  } catch {
    throw new CommandError('proof_unreadable', `${path} is not a saved response of GET /api/solvency/proof.`)
  }
}

async function checkLeaves(state: State, proofs: readonly LiabilityProof[]): Promise<Check[]> {
  if (proofs.length === 0)
    return [skipped('leaves', 'nothing is owed to the caller, or there is neither a credential nor --proof')]
  const checks: Check[] = []
  for (const proof of proofs) {
    const { problem, where } = await checkLeaf(state, proof)
    const detail = problem === undefined ? `${usd(BigInt(proof.leaf.micros))} is included, ${where}` : ''
    checks.push(outcome(`leaf ${proof.leaf.account}`, problem, detail))
  }
  return checks
}

async function checkLeaf(state: State, proof: LiabilityProof) {
  const { anchors, networks, rpcs, isAnchored } = state
  const anchor = anchors.find(
    (one) => one.anchored !== null && one.networks.some((entry) => isOf(proof, entry)),
  )
  if (anchor === undefined) {
    const published = publishedFor(proof, networks)
    const problem = inclusionProblem(proof, published)
    if (problem !== undefined || !isAnchored) return { problem, where: published?.where }
    return {
      problem: `snapshot ${proof.snapshot_id} is published, but not anchored. Save the proof of an anchored snapshot_id, or pass --no-anchor`,
    }
  }
  const wrong = await state.problemOf(anchor)
  if (wrong !== undefined) return { problem: `the anchor of ${anchor.day} is not verified: ${wrong}` }
  const published = anchoredFor(proof, anchor)
  const where = `${published?.where}${rpcs[SOLANA] === undefined ? ' as the API says' : ''}`
  return { problem: inclusionProblem(proof, published), where }
}

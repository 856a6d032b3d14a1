import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Market } from '@market/sdk'
import { type Call, command, type Options } from '../command.ts'
import { wholeNumber } from '../options.ts'
import type { Session } from '../session.ts'
import { anchorProblem, textProblem } from '../solvency/check-anchor.ts'
import { compareTreasury } from '../solvency/compare-treasury.ts'
import {
  inclusionProblem,
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
      const state = { networks, anchors, newest: anchors.find(({ anchored }) => anchored !== null), rpcs }
      return [
        ...(values['no-anchor'] ? [] : await checkAnchor(state)),
        ...(await checkLeaves(state, await readProofs(values.proof, state.newest, session))),
        ...(await checkTreasuries(state, values, market)),
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
  /** The newest anchor that is on the chain. */
  readonly newest: ReserveAnchor | undefined
  readonly rpcs: Readonly<Record<string, string>>
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

const treasuryOf = ({ networks }: State): string | undefined =>
  networks.find(({ network }) => network === 'solana-mainnet')?.treasury

async function checkAnchor(state: State): Promise<Check[]> {
  const { newest, rpcs } = state
  if (newest === undefined) return [outcome('anchor', 'no day is anchored')]
  const name = `anchor ${newest.day}`
  const isOld = Date.parse(newest.day) < Date.now() - (MAX_ANCHOR_AGE_DAYS + 1) * DAY_MS
  const age = isOld ? [outcome('anchor age', `the newest anchor is of ${newest.day}`)] : []
  const rpc = rpcs['solana-mainnet']
  if (rpc === undefined) {
    const problem = textProblem(newest)
    return [
      ...age,
      problem === undefined ? skipped(name, 'no --rpc for solana-mainnet') : outcome(name, problem),
    ]
  }
  const problem = await anchorProblem(newest, rpc, treasuryOf(state))
  return [...age, outcome(name, problem, newest.anchored?.signature)]
}

/** The caller's own proofs: of a file, or of the newest anchored snapshots, else of the newest published ones. */
async function readProofs(
  path: string | undefined,
  newest: ReserveAnchor | undefined,
  session: Session,
): Promise<readonly LiabilityProof[]> {
  if (path !== undefined) return readSaved(path)
  const { settings } = session
  if (settings.credential('agent') === undefined && settings.credential('user') === undefined) return []
  const { market } = session.signedIn('agent', 'user')
  if (newest === undefined) return (await market.getSolvencyProof({ limit: 100 })).data
  const proofs: LiabilityProof[] = []
  for (const { snapshot_id } of newest.networks)
    proofs.push(...(await market.getSolvencyProof({ limit: 100, snapshot_id })).data)
  return proofs
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
  const { anchors, networks, newest, rpcs } = state
  if (proofs.length === 0)
    return [skipped('leaves', 'nothing is owed to the caller, or there is neither a credential nor --proof')]
  const checks: Check[] = []
  for (const proof of proofs) {
    const published = publishedFor(proof, anchors, networks)
    const anchor = anchors.find((one) =>
      one.networks.some(({ snapshot_id }) => snapshot_id === proof.snapshot_id),
    )
    const rpc = rpcs['solana-mainnet']
    let problem = inclusionProblem(proof, published)
    if (
      problem === undefined &&
      rpc !== undefined &&
      anchor !== undefined &&
      anchor.anchored !== null &&
      anchor !== newest
    )
      problem = await anchorProblem(anchor, rpc, treasuryOf(state))
    const detail =
      problem === undefined ? `${usd(BigInt(proof.leaf.micros))} is included, ${published?.where}` : ''
    checks.push(outcome(`leaf ${proof.leaf.account}`, problem, detail))
  }
  return checks
}

async function checkTreasuries(
  state: State,
  values: Call<typeof OPTIONS>['values'],
  market: Market,
): Promise<Check[]> {
  const tokens = { ...USDC, ...pairs('usdc', values.usdc) }
  const tries = wholeNumber('tries', values.tries) ?? 3
  const waitMs = (wholeNumber('wait', values.wait) ?? 10) * 1_000
  const maxAgeMs = (wholeNumber('max-age', values['max-age']) ?? 15) * 60_000
  const checks: Check[] = []
  let { networks } = state
  for (const { network } of state.networks) {
    const [rpc, usdc] = [state.rpcs[network], tokens[network]]
    if (rpc === undefined || usdc === undefined) {
      checks.push(skipped(`treasury ${network}`, `no --${rpc === undefined ? 'rpc' : 'usdc'} for ${network}`))
      continue
    }
    for (let n = 1; ; n++) {
      const one = networks.find((entry) => entry.network === network)
      const compared =
        one === undefined
          ? { problem: 'the API does not list it any more' }
          : await compareTreasury(one, { rpc, usdc }, maxAgeMs)
      if ('detail' in compared || n >= tries) {
        const problem = 'problem' in compared ? compared.problem : undefined
        checks.push(outcome(`treasury ${network}`, problem, 'detail' in compared ? compared.detail : ''))
        break
      }
      // A payout may have left after the snapshot: the next snapshot lists it.
      await pause(waitMs)
      networks = await market.getSolvency()
    }
  }
  return checks
}

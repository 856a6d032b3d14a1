import { readFile } from 'node:fs/promises'
import type { Market } from '@market/sdk'
import { isOf, type LiabilityProof, outcome, type ReserveAnchor, type ReserveCheck } from '@market/solvency'
import type { Session } from '../session.ts'
import { readSigner } from '../settings/wallet-key.ts'
import { CommandError } from '../usage-error.ts'

export interface Proofs {
  /** Whether there was a credential or a file. */
  readonly isAsked: boolean
  readonly proofs: readonly LiabilityProof[]
  /** How many smaller leaves the API left out. */
  readonly omitted: number
  /** Failures of the requests. */
  readonly failures: readonly ReserveCheck[]
}

interface ProofOptions {
  readonly proof: string | undefined
  readonly 'wallet-file': string | undefined
}

/** The caller's own proofs: of a file, or of the newest anchored snapshots, else of the newest published ones. */
export async function readProofs(
  { proof, 'wallet-file': file }: ProofOptions,
  newest: ReserveAnchor | undefined,
  session: Session,
): Promise<Proofs> {
  if (proof !== undefined) return { isAsked: true, proofs: await readSaved(proof), omitted: 0, failures: [] }
  const market = await creditorOf(file, session)
  if (market === undefined) return { isAsked: false, proofs: [], omitted: 0, failures: [] }
  if (newest === undefined) {
    const { data, omitted } = await market.getSolvencyProof({ limit: 100 })
    return { isAsked: true, proofs: data, omitted, failures: [] }
  }
  const failures: ReserveCheck[] = []
  const proofs: LiabilityProof[] = []
  let left = 0
  for (const entry of newest.networks) {
    const { snapshot_id } = entry
    const { data, omitted } = await market.getSolvencyProof({ limit: 100, snapshot_id })
    left += omitted
    for (const proof of data)
      if (isOf(proof, entry)) proofs.push(proof)
      else
        failures.push(
          outcome(
            `leaf ${proof.leaf.account}`,
            `the API returned snapshot ${proof.snapshot_id} of ${proof.network} instead of ${snapshot_id} of ${entry.network}`,
          ),
        )
  }
  return { isAsked: true, proofs, omitted: left, failures }
}

/** Whose leaves are asked for: those of the named wallet, else of the stored credential, else of MARKET_WALLET_KEY. */
async function creditorOf(file: string | undefined, session: Session): Promise<Market | undefined> {
  const { settings, environment } = session
  const isStored = settings.credential('agent') !== undefined || settings.credential('user') !== undefined
  if (file === undefined && isStored) return session.signedIn('agent', 'user').market
  const wallet = await readSigner(file, environment)
  return wallet === undefined ? undefined : session.asWallet(wallet)
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

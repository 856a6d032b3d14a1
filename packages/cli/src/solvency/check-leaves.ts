import {
  type Anchors,
  anchoredFor,
  chainOf,
  inclusionProblem,
  isOf,
  type LiabilityProof,
  type NetworkSolvency,
  outcome,
  publishedFor,
  type ReserveCheck,
  spelled,
  usd,
} from '@market/solvency'
import type { Known } from './known.ts'
import type { Proofs } from './read-proofs.ts'

export interface LeafChecks {
  readonly networks: readonly NetworkSolvency[]
  readonly anchors: Anchors
  readonly known: Known
  /** What the user knows is owed to them in total, in micros. */
  readonly owed: bigint | undefined
  /** The holders that are the user; undefined when the user named none. */
  readonly holders: readonly string[] | undefined
}

export async function checkLeaves(asked: Proofs, options: LeafChecks): Promise<ReserveCheck[]> {
  const checks: ReserveCheck[] = [...asked.failures]
  const seen = new Set<string>()
  let sum = 0n
  for (const proof of asked.proofs) {
    const { leaf, network, snapshot_id } = proof
    const name = JSON.stringify([network, snapshot_id, leaf.account, leaf.holder, leaf.salt])
    const check = seen.has(name)
      ? outcome(`leaf ${leaf.account}`, 'the API lists this leaf twice')
      : await checkLeaf(proof, options)
    seen.add(name)
    if (check.result !== 'FAILED') sum += BigInt(leaf.micros)
    checks.push(check)
  }
  return [...checks, ...checkOwed(asked, sum, options.owed)]
}

/** The API can leave leaves out, so that only the user knows whether these are all. */
function checkOwed(
  { isAsked, proofs, omitted }: Proofs,
  sum: bigint,
  owed: bigint | undefined,
): ReserveCheck[] {
  const check = 'leaves'
  if (!isAsked && owed !== 0n)
    return [
      {
        result: 'skipped',
        check,
        detail: 'what is owed to you is not checked: there is no credential, --wallet-file or --proof',
        missing: ['--wallet-file <path>'],
      },
    ]
  if (owed !== undefined) {
    const detail = `${usd(sum)} in the leaves, --owed is ${usd(owed)}`
    return [outcome(check, sum < owed ? `${detail}: ${usd(owed - sum)} is missing` : undefined, detail)]
  }
  if (proofs.length === 0)
    return [
      {
        result: 'skipped',
        check,
        detail: 'the API says that nothing is owed to you. Pass --owed 0.00 if that is right',
        missing: ['--owed <usd>'],
      },
    ]
  if (omitted === 0) return []
  const detail = `the API left out ${omitted} smaller leaves`
  return [{ result: 'warning', check, detail, missing: ['--owed <usd>'] }]
}

async function checkLeaf(proof: LiabilityProof, options: LeafChecks): Promise<ReserveCheck> {
  const { leaf, network } = proof
  const check = `leaf ${leaf.account}`
  const { problem, where } = await findInRoot(proof, options)
  const holders = options.holders?.map((one) => spelled(network, one))
  if (problem !== undefined) return outcome(check, problem)
  if (holders !== undefined && !holders.includes(spelled(network, leaf.holder)))
    return outcome(check, `it belongs to ${leaf.holder || 'no holder'}, not to a --holder`)
  const whose = leaf.holder === '' ? 'without a holder' : `owed to ${leaf.holder}`
  const detail = `${usd(BigInt(leaf.micros))} ${whose} is included, ${where}`
  return checkWallet(proof, options.known, { result: 'ok', check, detail })
}

/** A server wallet is beside the treasury: its balance can be read at its own address. */
async function checkWallet(
  { leaf, network }: LiabilityProof,
  { rpcs, tokens }: Known,
  included: ReserveCheck,
): Promise<ReserveCheck> {
  const [kind, , address] = leaf.account.split(':')
  const [rpc, usdc] = [rpcs[network], tokens[network]]
  if (kind !== 'wallet' || address === undefined || rpc === undefined || usdc === undefined) return included
  const held = await chainOf(network).balance({ rpc, usdc }, address)
  const detail = `${included.detail}; the wallet holds ${usd(held)} now`
  if (held >= BigInt(leaf.micros)) return { ...included, detail }
  return { ...included, result: 'warning', detail: `${detail}: the rest was sent since, or is missing` }
}

async function findInRoot(proof: LiabilityProof, { anchors, networks }: LeafChecks) {
  const anchor = anchors.listed.find(
    (one) => one.anchored !== null && one.networks.some((entry) => isOf(proof, entry)),
  )
  if (anchor === undefined) {
    const published = publishedFor(proof, networks)
    const problem = inclusionProblem(proof, published)
    if (problem !== undefined || !anchors.isRequired) return { problem, where: published?.where }
    return {
      problem: `snapshot ${proof.snapshot_id} is published, but not anchored. Save the proof of an anchored snapshot_id, or pass --no-anchor`,
    }
  }
  const wrong = await anchors.problemOf(anchor)
  if (wrong !== undefined) return { problem: `the anchor of ${anchor.day} is not verified: ${wrong}` }
  const published = anchoredFor(proof, anchor)
  const where = `${published?.where}${anchors.isRead ? '' : ' as the API says'}`
  return { problem: inclusionProblem(proof, published), where }
}

import type { Operations } from '@market/sdk'
import { sha256 as hashOf } from './sha256.ts'

export type LiabilityProof = Operations['getSolvencyProof']['data'][number]
export type ReserveAnchor = Operations['listAnchors']['data'][number]
export type NetworkSolvency = Operations['getSolvency']['data'][number]

const HASH = /^[0-9a-f]{64}$/
const AMOUNT = /^\d+$/
/** Fields are joined before they are hashed: a separator inside of one would make two lists of fields equal. */
const FIELD = /^[^\s\p{Cc}]*$/u
/** Without a colon, which separates the name from `agent-wallets`. */
const NETWORK = /^[a-z0-9-]+$/
const DAY = /^\d{4}-\d{2}-\d{2}$/

const sha256 = (...lines: readonly (string | bigint)[]): string => hashOf(lines.join('\n'))

const USD = /^(\d+)\.(\d{2,6})$/

export const isAmount = (text: string): boolean => USD.test(text)

/** Millionths of a USDC. */
export function micros(text: string): bigint {
  const [, whole, part] = USD.exec(text) ?? []
  if (whole === undefined || part === undefined) throw new Error(`${text} is not an amount`)
  return BigInt(whole + part.padEnd(6, '0'))
}

/** With two to six decimals. */
export function usd(amount: bigint): string {
  const decimals = String(amount % 1_000_000n).padStart(6, '0')
  return `${amount / 1_000_000n}.${decimals.replace(/0{1,4}$/, '')}`
}

/** The root and the sum that a leaf and its path result in; undefined for a negative sum, which would hide a debt. */
export function rootBy({ leaf, path }: Pick<LiabilityProof, 'leaf' | 'path'>) {
  const amounts = [leaf.micros, ...path.map((step) => step.sum)]
  if (!amounts.every((amount) => AMOUNT.test(amount))) return undefined
  let sum = BigInt(leaf.micros)
  let hash = sha256('market.reserves.leaf.v1', leaf.salt, leaf.account, leaf.holder, sum)
  for (const step of path) {
    const mine = [hash, sum] as const
    const beside = [step.hash, BigInt(step.sum)] as const
    const [left, right] = step.side === 'left' ? [beside, mine] : [mine, beside]
    hash = sha256('market.reserves.node.v1', ...left, ...right)
    sum = left[1] + right[1]
  }
  return { hash, sum }
}

/** Whether the fields of an anchor can be hashed in one way only. */
export function anchorShapeProblem({ day, networks }: Pick<ReserveAnchor, 'day' | 'networks'>) {
  if (!DAY.test(day)) return `${day} is not a day`
  for (const { network, snapshot_id, root, total_micros, agent_wallets } of networks) {
    const trees = [{ root, total_micros }, ...(agent_wallets === null ? [] : [agent_wallets])]
    if (
      !(NETWORK.test(network) && FIELD.test(snapshot_id)) ||
      !trees.every((tree) => HASH.test(tree.root) && AMOUNT.test(tree.total_micros))
    )
      return `a field of ${network} is malformed`
  }
  if (new Set(networks.map(({ network }) => network)).size < networks.length)
    return 'a network is listed twice'
  return undefined
}

/** The text that the treasury publishes for the roots of a day. */
export function anchorText({ day, networks }: Pick<ReserveAnchor, 'day' | 'networks'>): string {
  const lines = networks.flatMap(({ network, snapshot_id, root, total_micros, agent_wallets }) => [
    `${network} ${snapshot_id} ${root} ${total_micros}`,
    ...(agent_wallets === null
      ? []
      : [`${network}:agent-wallets ${snapshot_id} ${agent_wallets.root} ${agent_wallets.total_micros}`]),
  ])
  return `market.reserves.v1 ${day} ${sha256(...lines.sort())}`
}

export interface Published {
  readonly root: string
  readonly sum: bigint
  readonly where: string
}

/** The root and the sum of this anchor for the tree of a proof. */
export function anchoredFor(proof: LiabilityProof, { networks, day }: ReserveAnchor): Published | undefined {
  const entry = networks.find((one) => isOf(proof, one))
  const tree = isWallet(proof) ? entry?.agent_wallets : entry
  if (tree == null) return undefined
  return { root: tree.root, sum: BigInt(tree.total_micros), where: `anchored ${day}` }
}

/** The root and the sum that the API shows for the tree of a proof, which it can show differently to others. */
export function publishedFor(
  proof: LiabilityProof,
  networks: readonly NetworkSolvency[],
): Published | undefined {
  const { proof: newest } = networks.find(({ network }) => network === proof.network) ?? {}
  if (newest?.snapshot_id !== proof.snapshot_id || isWallet(proof)) return undefined
  return { root: newest.root, sum: micros(newest.liabilities_usd), where: 'published, not anchored' }
}

const isWallet = ({ leaf }: LiabilityProof): boolean => leaf.account.startsWith('wallet:')

type SnapshotName = Pick<LiabilityProof, 'network' | 'snapshot_id'>

export const isOf = (proof: SnapshotName, { network, snapshot_id }: SnapshotName): boolean =>
  proof.network === network && proof.snapshot_id === snapshot_id

/** What is wrong with a proof; undefined when its leaf is part of the published root. */
export function inclusionProblem(
  proof: LiabilityProof,
  published: Published | undefined,
): string | undefined {
  if (published === undefined) return `snapshot ${proof.snapshot_id} is neither anchored nor published`
  const { leaf, path } = proof
  if (![leaf.salt, leaf.account, leaf.holder].every((field) => FIELD.test(field)))
    return 'a field of the leaf has a space or a control character'
  if (!path.every((step) => HASH.test(step.hash))) return 'a hash of the path is malformed'
  const result = rootBy(proof)
  if (result === undefined) return 'a sum is not a number of zero or more'
  const { hash, sum } = result
  if (hash !== published.root)
    return `the proof results in another root than the one that is ${published.where}`
  if (sum !== published.sum) return `the proof adds up to ${usd(sum)} instead of ${usd(published.sum)}`
  return undefined
}

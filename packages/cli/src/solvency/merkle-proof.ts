import { createHash } from 'node:crypto'
import type { Operations } from '@market/sdk'

export type LiabilityProof = Operations['getSolvencyProof']['data'][number]
export type ReserveAnchor = Operations['listAnchors']['data'][number]
export type NetworkSolvency = Operations['getSolvency']['data'][number]

const sha256 = (...lines: readonly (string | bigint)[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex')

/** Millionths of a USDC. */
export function micros(text: string): bigint {
  const [, whole, part] = /^(\d+)\.(\d{2,6})$/.exec(text) ?? []
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
  if (!amounts.every((amount) => /^\d+$/.test(amount))) return undefined
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

interface Published {
  readonly root: string
  readonly sum: bigint
  readonly where: string
}

/** The root and the sum that were published for the tree of a proof. */
export function publishedFor(
  proof: LiabilityProof,
  anchors: readonly ReserveAnchor[],
  networks: readonly NetworkSolvency[],
): Published | undefined {
  const isWallet = proof.leaf.account.startsWith('wallet:')
  for (const { networks: anchoredNetworks, anchored, day } of anchors)
    for (const entry of anchoredNetworks)
      if (anchored !== null && entry.snapshot_id === proof.snapshot_id) {
        const tree = isWallet ? entry.agent_wallets : entry
        if (tree !== null)
          return { root: tree.root, sum: BigInt(tree.total_micros), where: `anchored ${day}` }
      }
  const newest = networks.find(({ proof: one }) => one?.snapshot_id === proof.snapshot_id)?.proof
  if (newest == null || isWallet) return undefined
  return { root: newest.root, sum: micros(newest.liabilities_usd), where: 'published, not anchored' }
}

/** What is wrong with a proof; undefined when its leaf is part of the published root. */
export function inclusionProblem(
  proof: LiabilityProof,
  published: Published | undefined,
): string | undefined {
  if (published === undefined) return `snapshot ${proof.snapshot_id} is neither anchored nor published`
  const result = rootBy(proof)
  if (result === undefined) return 'a sum is not a number of zero or more'
  const { hash, sum } = result
  if (hash !== published.root)
    return `the proof results in another root than the one that is ${published.where}`
  if (sum !== published.sum) return `the proof adds up to ${usd(sum)} instead of ${usd(published.sum)}`
  return undefined
}

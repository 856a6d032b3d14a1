import { hash } from 'node:crypto'
import type { Network } from '@market/kernel/network'
import { liabilitiesOf, type Snapshot, type SnapshotId } from '../snapshots/index.ts'

/** A tree that the text of a day commits to. */
export interface AnchoredTree {
  readonly network: Network
  readonly kind: 'liabilities' | 'agent_wallets'
  readonly snapshotId: SnapshotId
  readonly root: string
  readonly micros: bigint
}

/** The text of a UTC day, which is published on a chain. */
export interface Anchor {
  readonly day: string
  readonly text: string
  readonly trees: readonly AnchoredTree[]
}

export type AnchorText = Pick<Anchor, 'day' | 'text'>

/** The trees of the day's snapshots. */
export function treesOf(snapshots: readonly Snapshot[]): AnchoredTree[] {
  const trees: AnchoredTree[] = []
  for (const { id: snapshotId, network, proof, wallets, balances } of snapshots) {
    const of = { network, snapshotId }
    if (proof !== null)
      trees.push({ ...of, kind: 'liabilities', root: proof.root, micros: liabilitiesOf(balances) })
    if (wallets !== null)
      trees.push({ ...of, kind: 'agent_wallets', root: wallets.root, micros: wallets.total })
  }
  return trees
}

const lineOf = ({ network, kind, snapshotId, root, micros }: AnchoredTree): string =>
  [kind === 'liabilities' ? network : `${network}:agent-wallets`, snapshotId, root, micros].join(' ')

/** The lines are sorted, so that anyone who has the trees in any order gets the same text. */
export function anchorOf(day: string, trees: readonly AnchoredTree[]): Anchor {
  const lines = trees.map(lineOf).sort()
  return { day, text: `market.reserves.v1 ${day} ${hash('sha256', lines.join('\n'))}`, trees }
}

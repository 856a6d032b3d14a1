import { hash } from 'node:crypto'
import type { Network } from '@market/kernel/network'
import { liabilitiesOf, type Snapshot, type SnapshotId } from '../snapshot.ts'

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

/** The trees of the day's snapshots. */
export const treesOf = (snapshots: readonly Snapshot[]): AnchoredTree[] =>
  snapshots.flatMap(({ id: snapshotId, network, proof, wallets, balances }) => [
    ...(proof === null
      ? []
      : [
          {
            network,
            kind: 'liabilities',
            snapshotId,
            root: proof.root,
            micros: liabilitiesOf(balances),
          } as const,
        ]),
    ...(wallets === null
      ? []
      : [{ network, kind: 'agent_wallets', snapshotId, root: wallets.root, micros: wallets.total } as const]),
  ])

const lineOf = ({ network, kind, snapshotId, root, micros }: AnchoredTree): string =>
  [kind === 'liabilities' ? network : `${network}:agent-wallets`, snapshotId, root, micros].join(' ')

/** The lines are sorted, so that anyone who has the trees in any order gets the same text. */
export function anchorOf(day: string, trees: readonly AnchoredTree[]): Anchor {
  const lines = trees.map(lineOf).sort()
  return { day, text: `market.reserves.v1 ${day} ${hash('sha256', lines.join('\n'))}`, trees }
}

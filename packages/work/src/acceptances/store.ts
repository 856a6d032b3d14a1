import type { Db, Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { BountyId } from '@market/kernel/ids'
import { findNamed } from '@market/money/payments'
import { findOrdersOfBounties } from '@market/trade/orders'
import { type Acceptance, acceptanceOf } from './acceptance.ts'

/** Undefined when the transaction was never named for the bounty, or could not pay. */
export async function findAcceptance(
  db: Db | Tx,
  { bountyId, network, reference }: Pick<Acceptance, 'bountyId' | 'network' | 'reference'>,
): Promise<Acceptance | undefined> {
  const all = await findNamed(db, { kind: 'bounty', scope: bountyId, named: { network, reference } })
  const named = all.find(({ status }) => status !== 'failed')
  return named && acceptanceOf(named, (await findOrdersOfBounties(db, [bountyId])).get(bountyId))
}

export async function findAcceptanceById(tx: Tx, id: string): Promise<Acceptance> {
  const [named] = await findNamed(tx, { kind: 'bounty', id })
  assert(named !== undefined, `${id} was named`)
  return acceptanceOf(named)
}

/** The newest that were named for a bounty. */
export const findAcceptancesOf = async (db: Db, bountyId: BountyId, limit: number): Promise<Acceptance[]> =>
  (await findNamed(db, { kind: 'bounty', scope: bountyId, limit })).map((named) => acceptanceOf(named))

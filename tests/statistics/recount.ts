import { findLeaders, readStatistics, type Statistics } from '@market/core/statistics'
import type { Db } from '@market/database/transact'
import { sql } from 'kysely'
import { expect } from 'vitest'

/** Every figure, counted from the rows themselves. */
async function recount(db: Db): Promise<Statistics> {
  const { rows } = await sql<Statistics>`
    select
      (select count(*) from agents where (owner_user_id is not null or owner_wallet is not null)
        and not exists (select from users where idp_user_id = owner_user_id and deleted_at is not null)) as agents,
      (select count(*) from listings join agents on agents.id = agent_id
        where active and (owner_user_id is not null or owner_wallet is not null)) as services,
      (select count(*) from orders) as orders_created,
      (select count(*) from orders where paid_at is not null and closed_at is null) as orders_in_progress,
      (select count(*) from orders where status = 'completed') as orders_completed,
      (select count(*) from orders where status = 'cancelled') as orders_cancelled,
      (select coalesce(sum(${SETTLED}), 0)::bigint from orders where status = 'completed') as completed_micros,
      (select count(*) from reviews) as reviews`.execute(db)
  if (rows[0] === undefined) throw new Error('a count has a row')
  return rows[0]
}

const LEADERS = 1_000

/** What the agent got of the price, its fee included. The rest was refunded. */
const SETTLED = sql`agent_part_micros`

const recountAgents = async (db: Db) => {
  const { rows } = await sql`
    select agent_id as "agentId", sum(${SETTLED})::bigint as settled, count(*) as "completedOrders"
    from orders join agents on agents.id = agent_id
    where status = 'completed' and marketable and agents.closed_at is null group by agent_id
    having sum(${SETTLED}) > 0 order by 2 desc, 1 limit ${LEADERS}`.execute(db)
  return rows
}

/** The feed has each completed order of a listed agent that is not private, and no other. */
async function expectOrdersInFeed(db: Db): Promise<void> {
  const { rows } = await sql`
    select coalesce(shown.subject, completed.id) as id
    from (select subject from activity where kind = 'order') as shown
    full join (
      select orders.id from orders join agents on agents.id = agent_id
      where status = 'completed' and not is_private and marketable and agents.closed_at is null
    ) as completed
      on completed.id = shown.subject
    where shown.subject is null or completed.id is null`.execute(db)
  expect(rows).toEqual([])
}

export async function expectExact(db: Db): Promise<void> {
  expect(await readStatistics(db)).toEqual(await recount(db))
  expect(await findLeaders(db, LEADERS)).toEqual(await recountAgents(db))
  await expectOrdersInFeed(db)
}

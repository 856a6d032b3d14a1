import { sql } from 'kysely'
import type { AppServices } from './application.ts'
import { readVenue } from './earn-facts.ts'
import type { Environment } from './environment.ts'

/** After Postgres was killed, until no chain can execute what the database may have lost. */
export const ALIVE = 'payouts behind a lost authorization'

/** What still moves, or undefined when nothing does. */
export async function pendingWork(environment: Environment, app: AppServices): Promise<string | undefined> {
  const { rows } = await sql<{ what: string; count: bigint }>`
    select 'payouts under way' as what, count(*) from payouts where state not in ('final', 'failed', 'withdrawn')
    union all select ${ALIVE}, count(*) from payouts where state = 'held' and hold_code = 'authorization_alive'
    union all select 'transfers that are not final', count(*) from transfers where state = 'seen'
    union all select 'purchases under way', count(*) from purchases where state = 'sent'
    union all select 'payments that are waited for', count(*) from payment_intents where status = 'waiting'
    union all select 'deliveries without a review for two days', count(*) from orders
      where status = 'delivered' and due_at <= ${new Date(app.now())}
    union all select 'deposits of Earn under way', count(*) from earn_deposits where status in ('received', 'deploying')
    union all select 'moves of Earn under way', count(*) from venue_transfers where state not in ('done', 'failed', 'held')
    union all select 'withdrawals of Earn under way', count(*) from earn_withdrawals where status in ('requested', 'queued')
    union all select 'deliveries under way', count(*) from deliveries where status = 'pending'
    union all select 'events without a delivery', count(*) from event_counters counter
      left join delivery_queues queue using (agent_id) where counter.last_seq > coalesce(queue.last_seq, 0)`.execute(
    app.db,
  )
  const moving = rows.filter(({ count }) => count > 0n).map(({ what, count }) => `${count} ${what}`)
  const late = environment.relays.reduce((sum, relay) => sum + relay.onTheWay(), 0)
  if (late > 0) moving.push(`${late} transactions on their way`)
  if (moving.length > 0) return moving.join(', ')
  for (const network of app.networks) {
    const { rows: sums } = await sql<{ sum: bigint }>`
      select -coalesce(sum(balance_micros), 0)::bigint as sum from ledger_accounts
      where kind = 'world' and network = ${network}`.execute(app.db)
    const held = await environment.testChains[network].balanceOf(app.treasuries[network])
    if (held !== sums[0]?.sum) return `${network} holds ${held}, the ledger says ${sums[0]?.sum}`
  }
  const { shares } = await readVenue(environment, app)
  const counted = await sql<{
    sum: string
  }>`select coalesce(sum(venue_shares), 0)::text as sum from earn_pools`.execute(app.db)
  if (String(shares) !== counted.rows[0]?.sum)
    return `the venue has ${shares} shares, the pools ${counted.rows[0]?.sum}`
  return undefined
}

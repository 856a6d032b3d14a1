import type pg from 'pg'
import { ROLES } from './roles.ts'

/** Written by the worker alone; the api reads them. */
const WORKER_ONLY = [
  'agent_statistics',
  'earn_deposit_parts',
  'earn_fills',
  'venue_transfers',
  'earn_pools',
  'earn_positions',
  'earn_prices',
  'earn_recall_parts',
  'followed_networks',
  'migrations',
  'opened_token_accounts',
  'outgoing_accounts',
  'outgoing_horizons',
  'outgoing_transactions',
  'payout_addresses',
  'payout_changes',
  'payout_costs',
  'payout_counters',
  'payout_guards',
  'payout_batches',
  'payout_treasuries',
  'payout_totals',
  'payout_transfers',
  'reserve_anchors',
  'reserve_leaves',
  'reserve_snapshots',
  'statistics',
  'sweep_clock',
  'wallet_balances',
  'wallet_readings',
  'withdraw_delays',
  'worker_pools',
]

/** Nobody but the owner changes or deletes a row. */
const APPEND_ONLY = ['audit_log', 'ledger_accounts', 'ledger_journals', 'ledger_moves']

const { api, worker } = ROLES

/**
 * The api may retry a payout (its old signatures are void), and write off or pair a transfer; these columns only narrow what
 * follows. It cannot read what the treasury signed: anybody who has an authorization can submit it. It cannot change what
 * names a payout on its chain.
 * It adds wallets of agents, and cannot read their sealed seeds again. It adds transactions of wallets, which the worker checks,
 * and can cancel a withdraw address. It records, pays and reverses creator fees. It adds deposits and withdrawals of Earn, which the
 * worker decides. It adds confirmations of payout addresses, which the worker verifies.
 */
const GRANTS = `
  grant usage on schema public, graphile_worker to ${worker};
  grant usage on schema public to ${api};
  grant select, insert, update, delete on all tables in schema public to ${api}, ${worker};
  grant usage on all sequences in schema public to ${api}, ${worker};
  revoke insert, update, delete on migrations from ${worker};
  revoke update, delete on ${APPEND_ONLY.join(', ')} from ${api}, ${worker};
  revoke insert, update, delete on ${WORKER_ONLY.join(', ')} from ${api};
  revoke update, delete on statistic_changes from ${api};

  revoke insert, update, delete on outgoing_transfers from ${api};
  revoke all on payout_signatures, payout_batches from ${api};
  grant select (network, reference, payout_id, round, n, valid_to, is_dead) on payout_signatures to ${api};
  grant update (is_dead) on payout_signatures to ${api};
  grant update (written_off_at, paired_with) on outgoing_transfers to ${api};
  revoke delete on payouts, transfers, agent_wallets from ${api}, ${worker};
  revoke update on payouts from ${api};
  grant update (network, kind, subject, purpose, agent_id, payee, amount_micros, state, round, hold_code, hold_detail, reason,
    not_before, contested_at, approval_id, approved_at, counts_against_caps, counted_at, opens_account, final_reference,
    notified_agent, created_at, updated_at, due_at) on payouts to ${api};
  revoke delete on payout_counters from ${worker};
  revoke update, delete on outgoing_transactions from ${worker};
  revoke select, update on agent_wallets from ${api};
  grant select (agent_id, chain, address, created_at) on agent_wallets to ${api};
  revoke update, delete on wallet_transactions, withdraw_addresses, payout_confirmations from ${api};
  revoke delete on wallet_transactions, withdraw_addresses from ${worker};
  grant update (cancelled_at) on withdraw_addresses to ${api};
  revoke update, delete on creator_fees from ${api};
  revoke insert, update, delete on creator_fees from ${worker};
  grant update (status, payment_tx, paid_by, paid_at, approval_id, reversed_at) on creator_fees to ${api};
  revoke update, delete on earn_deposits, earn_withdrawals from ${api};
  revoke delete on earn_deposits, earn_withdrawals, venue_transfers, earn_positions, earn_fills from ${worker};

  grant execute on function make_month(text, date), drop_month(text), end_old_transactions(interval) to ${worker};
  grant select, insert, update, delete on all tables in schema graphile_worker to ${worker};
  grant usage on all sequences in schema graphile_worker to ${worker};
  grant execute on all functions in schema graphile_worker to ${worker};`

/**
 * Gives the roles what they need, after every migration, so that new tables have their grants at once. Does nothing
 * while the roles or the tables are missing; `npm run db:roles` creates them and calls this.
 */
export async function grantRoles(client: pg.Client): Promise<void> {
  const { rows: ready } = await client.query<{ ready: boolean }>(
    `select (select count(*) from pg_roles where rolname = any($1)) = 2
       and to_regprocedure('public.drop_month(text)') is not null as ready`,
    [[api, worker]],
  )
  if (ready[0]?.ready !== true) return
  await client.query('begin')
  try {
    await client.query(GRANTS)
    await openJobTables(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  }
}

/** The job engine's tables have row-level security without a policy, so only their owner sees a row. */
async function openJobTables(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select tablename as name from pg_tables as job where schemaname = 'graphile_worker' and rowsecurity
       and not exists (select from pg_policies where schemaname = job.schemaname and tablename = job.tablename
         and policyname = '${worker}')`,
  )
  for (const { name } of rows)
    await client.query(
      `create policy ${worker} on graphile_worker.${name} to ${worker} using (true) with check (true)`,
    )
}

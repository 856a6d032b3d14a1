import { sumAmounts } from '@market/database/sum-amounts'
import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import { sql } from 'kysely'
import type { TransferKey } from '../../payments/index.ts'
import type { RoundCost } from '../counters/counters.ts'
import type { Payout, PayoutId } from '../payout.ts'

/** What other payouts were authorized from a transfer. A withdrawn one had failed, and none of its signatures counts. */
export async function sumSpent(
  tx: Tx,
  { network, reference, index }: TransferKey,
  except?: PayoutId,
): Promise<Usdc> {
  return sumAmounts(
    tx,
    sql`from payout_transfers where (network, reference, transfer_index) = (${network}, ${reference}, ${index})
      and payout_id is distinct from ${except ?? null}
      and exists (select from payouts where id = payout_id and state <> 'withdrawn')`,
  )
}

/** What of a transfer was moved to a venue of Earn. */
export const sumMovedToVenue = (tx: Tx, { network, reference, index }: TransferKey): Promise<Usdc> =>
  sumAmounts(
    tx,
    sql`from payout_transfers where (network, reference, transfer_index) = (${network}, ${reference}, ${index})
      and exists (select from payouts where id = payout_id and kind = 'move_to_venue' and state <> 'withdrawn')`,
  )

/** Stores how much of a transfer a payout uses. */
export async function saveSpent(
  tx: Tx,
  { id, amount }: Pick<Payout, 'id' | 'amount'>,
  { network, reference, index }: TransferKey,
): Promise<void> {
  await sql`
    insert into payout_transfers (payout_id, network, reference, transfer_index, amount_micros)
    values (${id}, ${network}, ${reference}, ${index}, ${amount})`.execute(tx)
}

/** Of a payout that is authorized again, perhaps from another transfer, or whose money came back. */
export async function deleteSpent(tx: Tx, id: PayoutId): Promise<void> {
  await tx.deleteFrom('payout_transfers').where('payout_id', '=', id).execute()
}

/** Due at once, so that the next step of a worker authorizes it. */
export async function saveApproval(tx: Tx, id: PayoutId, approvalId: string, at: Date): Promise<void> {
  await tx
    .updateTable('payouts')
    .set({ approval_id: approvalId, approved_at: at, due_at: at })
    .where('id', '=', id)
    .execute()
}

/** The payout that opened the token account of an agent, if one did. */
export async function findOpenedBy(tx: Tx, agentId: AgentId): Promise<PayoutId | undefined> {
  const row = await tx
    .selectFrom('opened_token_accounts')
    .select('payout_id')
    .where('agent_id', '=', agentId)
    .executeTakeFirst()
  return row && (row.payout_id as PayoutId)
}

/** Remembers the account for ever. A payout that was retried to another payee opens the account of that one instead. */
export async function saveOpenedAccount(
  tx: Tx,
  { id, payee }: Pick<Payout, 'id'> & { payee: string },
  agentId: AgentId,
  at: Date,
): Promise<void> {
  await tx
    .insertInto('opened_token_accounts')
    .values({ agent_id: agentId, payee, payout_id: id, opened_at: at })
    .onConflict((conflict) => conflict.column('agent_id').doUpdateSet({ payee, opened_at: at }))
    .execute()
}

/** Other earnings of the agent that wait only until they are enough to open its token account. */
export async function sumBelowAccountMinimum(tx: Tx, { id, agentId, network }: Payout): Promise<Usdc> {
  return sumAmounts(
    tx,
    sql`from payouts where state = 'held' and agent_id = ${agentId} and network = ${network} and id <> ${id}
      and hold_code = 'below_account_minimum'`,
  )
}

/** Makes the payouts of an agent due that wait for an open token account. */
export async function wakeForAccount(tx: Tx, agentId: AgentId, at: Date): Promise<void> {
  await sql`
    update payouts set due_at = ${at} where id in (
      select id from payouts where state = 'held' and agent_id = ${agentId}
        and hold_code in ('below_account_minimum', 'payee_account_closed') order by id for update)`.execute(
    tx,
  )
}

/** Saves what the round of a payout costs. Returns the cost before and after; neither when it stays as it is. */
export async function changeCost(
  tx: Tx,
  { id, round, network }: Payout,
  native: bigint | undefined,
  at: Date,
): Promise<{ readonly before?: RoundCost | undefined; readonly after?: RoundCost }> {
  if (native === undefined) return {}
  const row = await tx
    .selectFrom('payout_costs')
    .select(['native', 'at'])
    .where('payout_id', '=', id)
    .where('round', '=', round)
    .executeTakeFirst()
  const before = row && { native: BigInt(row.native), at: row.at }
  const after = { native, at: before?.at ?? at }
  await tx
    .insertInto('payout_costs')
    .values({ payout_id: id, round, network, native: native.toString(), at: after.at })
    .onConflict((conflict) =>
      conflict.columns(['payout_id', 'round']).doUpdateSet({ native: native.toString() }),
    )
    .execute()
  return { before, after }
}

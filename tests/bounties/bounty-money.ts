import type { Db } from '@market/database/transact'
import type { BountyId, OrderId } from '@market/kernel/ids'
import { sql } from 'kysely'
import { expect } from 'vitest'
import { acceptances } from '../support/named-transfers.ts'

/** A transfer that was named to accept a claim, and where its money is. */
interface NamedTransfer {
  readonly reference: string
  readonly status: 'waiting' | 'accepted' | 'refunded' | 'failed'
  readonly amount: bigint | null
  readonly payer: string | null
  readonly purpose: string | null
  readonly orderId: OrderId | null
  readonly payee: string | null
  /** Owed to the payer as a refund of an acceptance that did not win. */
  readonly refund: bigint
  /** In escrow for the order, or owed from it. */
  readonly inOrder: bigint
}

export async function namedTransfers(db: Db, bountyId: BountyId): Promise<NamedTransfer[]> {
  const { rows } = await sql<NamedTransfer>`
    select acceptance.reference, acceptance.status, acceptance.order_id as "orderId",
      paid.amount_micros as amount, paid.payer, paid.purpose, refund.payee,
      coalesce(refunded.balance_micros, 0)::bigint as refund,
      (select coalesce(sum(account.balance_micros), 0)::bigint from ledger_accounts as account
        where account.id = 'escrow:' || acceptance.network || ':order:' || acceptance.order_id
          or account.id in (select 'payable:' || acceptance.network || ':' || payout.id from payouts as payout
            where payout.subject = acceptance.order_id)) as "inOrder"
    from ${acceptances} as acceptance
    left join transfers as paid on paid.network = acceptance.network and paid.state <> 'gone'
      and starts_with(paid.subject, acceptance.reference)
      and paid.purpose in ('bounty:' || acceptance.id, 'order:' || acceptance.order_id)
    left join payouts as refund on refund.subject = acceptance.id and refund.kind = 'refund'
      and refund.state <> 'withdrawn'
    left join ledger_accounts as refunded on refunded.id = 'payable:' || acceptance.network || ':' || refund.id
    where acceptance.bounty_id = ${bountyId} order by acceptance.created_at, acceptance.id`.execute(db)
  return rows
}

/**
 * Each confirmed transfer is whole in one place: the order that it pays, or a refund to the wallet that made it. Returns
 * how many there are of each.
 */
export async function expectWholeTransfers(
  db: Db,
  bountyId: BountyId,
): Promise<{ paid: number; refunded: number }> {
  const named = await namedTransfers(db, bountyId)
  for (const { reference, status, amount, payer, payee, refund, inOrder } of named) {
    if (status === 'waiting' || status === 'failed') continue
    expect({ reference, payee, refund, inOrder }).toEqual(
      status === 'accepted'
        ? { reference, payee: null, refund: 0n, inOrder: amount }
        : { reference, payee: payer, refund: amount, inOrder: 0n },
    )
  }
  const count = (wanted: NamedTransfer['status']) => named.filter(({ status }) => status === wanted).length
  expect(count('accepted')).toBeLessThanOrEqual(1)
  return { paid: count('accepted'), refunded: count('refunded') }
}

/** The counter of each bounty equals its pending claims, none has more than one accepted claim or order, and no claim outlives it. */
export async function bountyFaults(db: Db): Promise<string[]> {
  const { rows } = await sql<{ fault: string }>`
    select 'pending_claims ' || bounty.id as fault from bounties as bounty
      where bounty.pending_claims <> (
        select count(*) from bounty_claims as claim where claim.bounty_id = bounty.id and claim.status = 'pending')
    union all
    select 'accepted claims ' || bounty_id from bounty_claims where status = 'accepted'
      group by bounty_id having count(*) > 1
    union all
    select 'orders ' || bounty_id from orders where bounty_id is not null group by bounty_id having count(*) > 1
    union all
    select 'order without an accepted claim ' || one.id from orders as one where one.bounty_id is not null
      and not exists (select from bounty_claims as claim
        where claim.bounty_id = one.bounty_id and claim.agent_id = one.agent_id and claim.status = 'accepted')
    union all
    select 'claim outlives its bounty ' || claim.id from bounty_claims as claim
      join bounties as bounty on bounty.id = claim.bounty_id where claim.expires_at > bounty.expires_at
    union all
    select 'status ' || bounty.id from bounties as bounty left join orders as one on one.bounty_id = bounty.id
      where case when one.id is null then bounty.status in ('claimed', 'completed')
        else bounty.status <> case when one.status in ('completed', 'cancelled') then one.status else 'claimed' end end
  `.execute(db)
  return rows.map(({ fault }) => fault)
}

import type { BountyId } from '@market/kernel/ids'
import { sql } from 'kysely'
import type { BountyFixture } from './bounty-fixture.ts'
import type { BountyModel } from './bounty-model.ts'
import { dueFor } from './bounty-model-state.ts'
import { namedTransfers } from './bounty-money.ts'

/** Names of the model for what the database has. */
export interface Names {
  /** By index, as the model has them. */
  readonly bountyIds: readonly BountyId[]
  readonly references: readonly string[]
  readonly wallets: readonly string[]
  readonly agentOf: (agentId: string) => number
  readonly recipientOf: (recipient: string) => string
  /** Whose claim an `about` names. */
  readonly ownerOf: (agentId: string) => string
}

interface Named {
  readonly transfer: number
  readonly status: string
  /** Owed to the wallet that made it. */
  readonly refund: bigint
  /** In escrow for the order, or owed from it. */
  readonly inOrder: bigint
}

interface ObservedBounty {
  readonly status: string
  readonly pending: number
  readonly expiresAt: number
  readonly claims: readonly string[]
  readonly order: string | null
  readonly named: readonly Named[]
}

export interface Observation {
  readonly bounties: readonly ObservedBounty[]
  readonly uses: readonly string[]
  readonly surplus: readonly bigint[]
  readonly notified: readonly string[]
  readonly emitted: readonly string[]
}

/** What the database has after a step. */
export async function observe({ db }: BountyFixture, names: Names): Promise<Observation> {
  const ids = [...names.bountyIds]
  const bounties = await Promise.all(ids.map((id) => observeBounty(db, id, names)))
  const { rows: transfers } = await sql<{ subject: string; purpose: string | null }>`
    select subject, purpose from transfers where payer = any(${[...names.wallets]}::text[])`.execute(db)
  const { rows: returned } = await sql<{ payee: string; amount: bigint }>`
    select payee, sum(amount_micros)::bigint as amount from payouts
    where kind = 'surplus' and payee = any(${[...names.wallets]}::text[]) group by payee`.execute(db)
  const { rows: notified } = await sql<{
    recipient: string
    kind: string
    id: BountyId
    about: string | null
  }>`
    select recipient, kind, data ->> 'bounty_id' as id, about from notifications
    where kind like 'bounty.%' and data ->> 'bounty_id' = any(${ids}::text[])`.execute(db)
  const { rows: emitted } = await sql<{ agent_id: string; event: string; id: BountyId }>`
    select agent_id, event, data ->> 'bounty_id' as id from events
    where event like 'bounty.%' and data ->> 'bounty_id' = any(${ids}::text[])`.execute(db)
  return {
    bounties,
    uses: names.references.map((reference) => {
      const purpose = transfers.find(({ subject }) => subject.startsWith(reference))?.purpose ?? ''
      return purpose === '' ? 'unused' : (purpose.split(':')[0] ?? '')
    }),
    surplus: names.wallets.map((wallet) => returned.find(({ payee }) => payee === wallet)?.amount ?? 0n),
    notified: notified
      .map(({ recipient, kind, id, about }) => {
        const whose = about === null ? '' : ` ${names.ownerOf(about.split(':')[1] ?? '')}`
        return `${names.recipientOf(recipient)} ${kind} ${ids.indexOf(id)}${whose}`
      })
      .toSorted(),
    emitted: emitted
      .map(({ agent_id, event, id }) => `agent ${names.agentOf(agent_id)} ${event} ${ids.indexOf(id)}`)
      .toSorted(),
  }
}

async function observeBounty(
  db: BountyFixture['db'],
  id: BountyId,
  { references, wallets, agentOf }: Names,
): Promise<ObservedBounty> {
  const bounty = await db
    .selectFrom('bounties')
    .leftJoin('orders', 'orders.bounty_id', 'bounties.id')
    .select(['bounties.status', 'pending_claims', 'bounties.expires_at', 'orders.status as order'])
    .where('bounties.id', '=', id)
    .executeTakeFirstOrThrow()
  const claims = await db
    .selectFrom('bounty_claims')
    .select(['agent_id', 'status', 'expires_at'])
    .where('bounty_id', '=', id)
    .orderBy('created_at')
    .execute()
  const named = await namedTransfers(db, id)
  return {
    status: bounty.status,
    pending: bounty.pending_claims,
    expiresAt: bounty.expires_at.getTime(),
    claims: claims.map(
      ({ agent_id, status, expires_at }) => `${agentOf(agent_id)} ${status} ${expires_at.getTime()}`,
    ),
    order: bounty.order,
    named: named.map(({ reference, status, refund, inOrder, payee }) => {
      // A refund goes to the wallet that made the transfer.
      if (payee !== null && !wallets.includes(payee)) throw new Error(`${payee} made no transfer`)
      return { transfer: references.indexOf(reference), status, refund, inOrder }
    }),
  }
}

/** The same of the model. */
export function expectedOf(model: BountyModel, wallets: number): Observation {
  return {
    bounties: model.bounties.map(({ status, expiresAt, claims, order, budget }, of) => ({
      status,
      pending: claims.filter((claim) => claim.status === 'pending').length,
      expiresAt,
      claims: claims.map((claim) => `${claim.agent} ${claim.status} ${claim.expiresAt}`),
      order: order?.status ?? null,
      named: model.acceptances
        .filter(({ bounty }) => bounty === of)
        .map(({ transfer, status: named }) => ({
          transfer,
          status: named,
          refund: named === 'refunded' ? model.transferAt(transfer).amount : 0n,
          inOrder: named === 'accepted' ? (order?.status === 'completed' ? budget : dueFor(budget)) : 0n,
        })),
    })),
    uses: model.transfers.map(({ use }) => use),
    surplus: Array.from({ length: wallets }, (_, payer) => model.surplusOf(payer)),
    notified: model.notified.toSorted(),
    emitted: model.emitted.toSorted(),
  }
}

import type { Network } from '@market/kernel/network'
import { sql } from 'kysely'
import { findAcceptances } from '../../support/named-transfers.ts'
import { counterDrift } from '../../support/payout-counters.ts'
import { gatherEarnFacts } from './earn-facts.ts'
import type { Environment } from './environment.ts'
import type { RunContext } from './order-actions.ts'
import { readOutgoing } from './outgoing.ts'
import { briefOf, type TestOrder } from './test-order.ts'

export type Facts = Awaited<ReturnType<typeof gatherFacts>>
export type OrderRow = Facts['orders'][number]

/** All that the ledger, the chains and the clients know at the end of a run. */
export async function gatherFacts(
  environment: Environment,
  { app, client, adminToken }: RunContext,
  testOrders: readonly TestOrder[],
) {
  const { db } = app
  const rows = await Promise.all([
    db.selectFrom('orders').selectAll().execute(),
    db.selectFrom('order_steps').selectAll().orderBy('order_id').orderBy('n').execute(),
    db.selectFrom('payouts').selectAll().execute(),
    db.selectFrom('transfers').selectAll().execute(),
    db.selectFrom('ledger_accounts').selectAll().execute(),
    db.selectFrom('events').select(['agent_id', 'seq', 'event', 'order_id']).orderBy('seq').execute(),
    db.selectFrom('event_counters').selectAll().execute(),
    db.selectFrom('deliveries').select(['id', 'agent_id', 'seq', 'status']).execute(),
    db.selectFrom('bounties').selectAll().execute(),
    db.selectFrom('bounty_claims').selectAll().execute(),
    findAcceptances(db),
  ])
  const [orders, steps, payouts, transfers, accounts, events, counters, deliveries, ...ofBounties] = rows
  const [bounties, claims, acceptances] = ofBounties
  const { rows: unbalanced } = await sql<{ id: string; sum: bigint }>`
    select journal_id as id, sum(amount_micros)::bigint as sum from ledger_moves group by journal_id
    having sum(amount_micros) <> 0`.execute(db)
  const { rows: drifted } = await sql<{ id: string }>`
    select account.id from ledger_accounts account left join ledger_moves move on move.account_id = account.id
    group by account.id, account.balance_micros
    having account.balance_micros <> coalesce(sum(move.amount_micros), 0)`.execute(db)

  const solvency = await client.send({
    method: 'GET',
    path: '/api/solvency',
    caller: { bearer: adminToken },
  })
  await addSettledTransfers(db, testOrders)
  const outgoing = await readOutgoing(environment, app)
  const treasuryNonces = await Promise.all(
    environment.evm.map(async ({ network, chain }) => ({
      network,
      nonce: BigInt(String(await chain.rpc('eth_getTransactionCount', [app.treasuries[network], 'latest']))),
    })),
  )
  const balances = new Map<string, bigint>()
  const isMined = new Map<string, boolean>()
  const wallets = new Map<string, { network: Network; owner: string }>()
  const addWallet = (network: Network, owner: string) =>
    wallets.set(`${network} ${owner}`, { network, owner })
  for (const network of app.networks) addWallet(network, app.treasuries[network])
  for (const { buyer, seller } of testOrders) {
    for (const network of buyer.networks) addWallet(network, buyer.key)
    addWallet('solana-mainnet', seller.solanaPayee)
    for (const network of ['base-mainnet', 'alt-mainnet'] as const) addWallet(network, seller.evmPayee)
  }
  await Promise.all([
    ...[...wallets].map(async ([name, { network, owner }]) =>
      balances.set(name, await environment.testChains[network].balanceOf(owner)),
    ),
    ...testOrders
      .flatMap(({ sent }) => sent)
      .map(async ({ network, reference }) =>
        isMined.set(reference, await environment.testChains[network].isMined(reference)),
      ),
  ])
  return {
    ...{ orders, steps, payouts, transfers, accounts, events, counters, deliveries, unbalanced, drifted },
    ...{ bounties, claims, acceptances },
    counterDrift: await counterDrift(db),
    earn: await gatherEarnFacts(environment, app),
    ...{ testOrders, outgoing, treasuryNonces, treasuries: app.treasuries, networks: app.networks },
    solvency: (solvency?.body.data ?? []) as readonly { network: string; solvent: boolean }[],
    accepted: await environment.webhookEndpoints.accepted(),
    output: app.output(),
    secrets: app.secrets,
    balanceOnChain: (network: Network, owner: string): bigint => balances.get(`${network} ${owner}`) ?? 0n,
    isMined: (reference: string): boolean => isMined.get(reference) ?? false,
    stepsOf: groupedBy(steps, ({ order_id }) => order_id),
    eventsOf: groupedBy(events, ({ order_id }) => order_id),
    payoutOf: (kind: string, orderId: string) =>
      payouts.find((one) => one.kind === kind && one.subject === orderId && one.state !== 'withdrawn'),
    /** The transfer that pays for an order now. */
    paymentOf: (orderId: string) =>
      transfers.find(({ purpose, state }) => purpose === `order:${orderId}` && state !== 'gone'),
    holds: (kind: string, network: string, subject?: string): bigint =>
      accounts
        .filter((one) => one.kind === kind && one.network === network)
        .filter((one) => subject === undefined || one.subject === subject)
        .reduce((sum, { balance_micros }) => sum + balance_micros, 0n),
  }
}

/**
 * What buyers signed and the application brought to a chain left their wallets too; only the application knows by which transaction.
 * One that it had forgotten would be missed in its buyer's wallet.
 */
async function addSettledTransfers(
  db: RunContext['app']['db'],
  testOrders: readonly TestOrder[],
): Promise<void> {
  const { rows } = await sql<{ network: Network; reference: string; amount: bigint; brief: string }>`
    select network, reference, amount_micros as amount, request->>'brief' as brief from purchases
    where kind <> 'transaction' and reference is not null`.execute(db)
  for (const { brief, ...brought } of rows)
    testOrders
      .find((testOrder) => briefOf(testOrder) === brief)
      ?.sent.push({ ...brought, send: () => Promise.reject(new Error('only the application has its bytes')) })
}

function groupedBy<T>(rows: readonly T[], keyOf: (row: T) => string): (key: string) => readonly T[] {
  const groups = Map.groupBy(rows, keyOf)
  return (key) => groups.get(key) ?? []
}

/** What must hold, by its name; each tells what breaks it. */
export type Checks = Readonly<Record<string, (facts: Facts) => readonly string[]>>

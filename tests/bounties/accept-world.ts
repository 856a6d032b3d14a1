import type { BountyId } from '@market/kernel/ids'
import { NETWORKS, type Network } from '@market/kernel/network'
import { totals } from '@market/money/ledger'
import { sql } from 'kysely'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { ledgerFaults } from '../ledger/ledger-fixtures.ts'
import { acceptPath } from '../support/acceptances.ts'
import { ESCROW, makeClaim, postAs } from '../support/bounties.ts'
import { client } from '../support/client.ts'
import { makeOwnedAgent, makeUser } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import type { startEvm } from '../support/market-chains.ts'
import { findAcceptances } from '../support/named-transfers.ts'
import { type ServerProcess, startApi } from '../support/processes.ts'
import { setPayout } from '../support/set-payout.ts'
import { bountyFaults } from './bounty-money.ts'

/** Beside what is paid, so that a payout never waits for the one before it. */
const FLOAT = 2_000_000_000n
const INITIAL = 1_000_000_000n
export const BUDGET = 20_000_000n
/** For a busy machine; nothing is measured. */
export const LONG = { withinMs: 240_000, everyMs: 50 }
const CAPS = {
  PAYOUT_DAY_CAP_USDC: '1000000',
  PAYOUT_PAYEE_DAY_CAP_USDC: '1000000',
  SOLANA_ACCOUNT_MINIMUM_USDC: '0',
}

/** A transfer of the poster into a treasury. */
export interface FundedTransfer {
  readonly network: Network
  readonly reference: string
  readonly amount: bigint
}

interface Agent {
  readonly id: string
  readonly apiKey: string
}

/** What the poster and the treasury have on each network. */
export type Balances = Readonly<Record<Network, { readonly ofPoster: bigint; readonly ofTreasury: bigint }>>

export type AcceptWorld = Awaited<ReturnType<typeof startAcceptWorld>>

/** Two api and two worker processes, three chains, and a user with a wallet on each chain. */
export async function startAcceptWorld() {
  const apis: ServerProcess[] = []
  const market = await startMarket(
    {},
    {
      ...{ chains: NETWORKS, float: FLOAT, mines: true },
      run: async (environment) => {
        const api = await startApi(environment)
        apis.push(api)
        return { url: api.url, logText: api.output, stop: async () => {} }
      },
    },
  )
  const { db, chains } = market
  const [api, ...workers] = await Promise.all([
    startApi(market.environment),
    market.startWorker(CAPS),
    market.startWorker(CAPS),
  ])
  apis.push(api)

  const account = privateKeyToAccount(generatePrivateKey())
  for (const network of ['base-mainnet', 'alt-mainnet'] as const) {
    const { chain } = chains[network]
    await chain.fund(account.address)
    await chain.included(await chain.mint(account.address, INITIAL))
  }
  const solana = chains['solana-mainnet']
  const solanaWallet = await solana.chain.wallet(INITIAL)
  const poster = await makeUser(market, { wallets: [account.address, solanaWallet.address] })

  const transferOnEvm = async ({ chain, treasury }: Awaited<ReturnType<typeof startEvm>>, amount: bigint) => {
    const hash = await chain.transfer(account, treasury, amount)
    await chain.included(hash)
    return hash
  }
  const transferOn: Readonly<Record<Network, (amount: bigint) => Promise<string>>> = {
    'base-mainnet': (amount) => transferOnEvm(chains['base-mainnet'], amount),
    'alt-mainnet': (amount) => transferOnEvm(chains['alt-mainnet'], amount),
    'solana-mainnet': async (amount) => {
      const { chain, treasury } = solana
      const open = await chain.openAccount(solanaWallet, treasury)
      return chain.run(solanaWallet, [open, await chain.transfer(solanaWallet, treasury, amount)])
    },
  }
  const balanceOn = (network: Network, owner: { readonly evm: string; readonly solana: string }) =>
    network === 'solana-mainnet'
      ? solana.chain.usdc.balanceOf(owner.solana)
      : chains[network].chain.balanceOf(owner.evm as Address)
  const walletsOfPoster = { evm: account.address, solana: solanaWallet.address as string }

  return {
    market,
    db,
    apis,
    workers,
    /** Kills the process without a signal that it could handle, and starts another one at the same place. */
    async restartApi(n: number): Promise<void> {
      const { port, stop } = apis[n] as ServerProcess
      await stop()
      apis[n] = await startApi(market.environment, { port })
    },
    async restartWorker(n: number): Promise<void> {
      await workers[n]?.stop()
      workers[n] = await market.startWorker(CAPS)
    },
    /** Agents that can be paid on every network. */
    async makeAgents(count: number) {
      const make = async () => {
        const agent = await makeOwnedAgent(market)
        const { address: payee } = await solana.chain.wallet()
        await setPayout(market, agent, 'payout_wallet', payee)
        return { ...agent, payees: { evm: agent.owner.address, solana: payee as string } }
      }
      return Promise.all(Array.from({ length: count }, make))
    },
    async postClaimed(agents: readonly Agent[]) {
      const bountyId = await postAs(market, { bearer: poster.token }, { client_wallet: account.address })
      const claims = await Promise.all(agents.map((agent) => makeClaim(market, bountyId, agent)))
      return { bountyId: bountyId as BountyId, claims }
    },
    /** Transfers on each network in turn. Each has another amount, so that every refund is that of one transfer. */
    async fund(count: number): Promise<FundedTransfer[]> {
      const all = Array.from({ length: count }, (_, n) => ({
        network: NETWORKS[n % NETWORKS.length] as Network,
        amount: ESCROW + BigInt(n),
      }))
      const funded = await Promise.all(
        NETWORKS.map(async (network) => {
          const made: FundedTransfer[] = []
          for (const one of all.filter((other) => other.network === network))
            made.push({ ...one, reference: await transferOn[network](one.amount) })
          return made
        }),
      )
      return funded.flat().toSorted((a, b) => Number(a.amount - b.amount))
    },
    /** By either process. */
    accept(
      n: number,
      claim: { readonly id: string; readonly bountyId: string },
      { network, reference }: FundedTransfer,
      key: string,
    ) {
      const body = {
        claim_id: claim.id,
        client_wallet: account.address,
        escrow_tx_hash: reference,
        payment_network: network,
      }
      return client(apis[n % apis.length]?.url ?? '').post(acceptPath(claim.bountyId), body, {
        bearer: poster.token,
        key,
      })
    },
    /** How many named transfers have each status. */
    async countNamed(bountyId: BountyId): Promise<Record<string, number>> {
      const named = (await findAcceptances(db)).filter(({ bounty_id }) => bounty_id === bountyId)
      const byStatus = Object.groupBy(named, ({ status }) => status)
      return Object.fromEntries(Object.entries(byStatus).map(([status, { length }]) => [status, length]))
    },
    async countPayouts(...states: string[]): Promise<number> {
      return (await db.selectFrom('payouts').select('id').where('state', 'in', states).execute()).length
    },
    /** On the chains. */
    balanceOn,
    async balances(): Promise<Balances> {
      const read = async (network: Network) => {
        const { treasury } = chains[network]
        const [ofPoster, ofTreasury] = await Promise.all([
          balanceOn(network, walletsOfPoster),
          balanceOn(network, { evm: treasury, solana: treasury }),
        ])
        return [network, { ofPoster, ofTreasury }] as const
      }
      return Object.fromEntries(await Promise.all(NETWORKS.map(read))) as Balances
    },
    /** Requests wait for the bounty meanwhile. */
    whileLocked: (bountyId: BountyId, work: () => Promise<void>): Promise<void> =>
      db.transaction().execute(async (tx) => {
        await tx.selectFrom('bounties').select('id').where('id', '=', bountyId).forUpdate().execute()
        await work()
      }),
    /** Database connections that wait for a lock. */
    async countWaiting(): Promise<number> {
      const { rows } = await sql<{ count: bigint }>`
        select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      `.execute(db)
      return Number(rows[0]?.count)
    },
    /** The sums of the ledger and the rules of bounties. */
    async expectWhole(): Promise<void> {
      expect(await ledgerFaults(db)).toEqual([])
      expect(await bountyFaults(db)).toEqual([])
      for (const network of NETWORKS) expect(await totals(db, network)).toMatchObject({ imbalance: 0n })
    },
    byPoster: (orderId: string, action: 'approve' | 'cancel') =>
      market.client().patch(`/api/orders/${orderId}`, { action }, { bearer: poster.token }),
    deliver: ({ apiKey }: Agent, orderId: string) =>
      market
        .client()
        .post(
          `/api/orders/${orderId}/deliver`,
          { deliverable_url: 'https://hooks.example/x' },
          { bearer: apiKey },
        ),
    stop: async () => {
      await Promise.all([...apis, ...workers].map((one) => one.stop()))
      await market.stop()
    },
  }
}

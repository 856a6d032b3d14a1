import { totals } from '@market/money/ledger'
import { sql } from 'kysely'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import type { Reply, RequestOptions } from '../support/client.ts'
import { makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { runBundled, startMarket } from '../support/market.ts'
import type { ServerProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'

export const USD = 1_000_000n
/** Beside what is deposited, so that a payout never waits for the one before it. */
const FLOAT = 2_000n * USD
/** What a depositor has at first. */
export const START = 1_000n * USD
const LONG = { withinMs: 120_000, everyMs: 50 }
const WORKER = {
  SWEEP_INTERVAL_MS: '200',
  PAYOUT_DAY_CAP_USDC: '1000000',
  PAYOUT_PAYEE_DAY_CAP_USDC: '1000000',
}

export type ProcessWorld = Awaited<ReturnType<typeof startProcesses>>
export type Depositor = Awaited<ReturnType<ProcessWorld['newDepositor']>>
export type CallerKind = 'agent' | 'user' | 'wallet'

type Fields = Readonly<Record<string, unknown>>

interface Listed {
  readonly status: string
  readonly amount_usd: string
  readonly shares: string | null
  readonly incoming_tx_hash: string
  readonly payouts: readonly { readonly status: string }[]
}

/** The api and a worker as processes, and a vault on a chain that mines. */
export async function startProcesses() {
  const market = await startMarket(
    {},
    { chains: ['base-mainnet'], float: FLOAT, mines: true, vault: 'lending', run: runBundled },
  )
  const { db, chains } = market
  const { chain, treasury, venue } = chains['base-mainnet']
  if (venue === undefined) throw new Error('Base has no vault')
  const workers: ServerProcess[] = [await market.startWorker(WORKER)]

  /** How a caller of each kind proves who it is. */
  const credentialsOf = async (kind: CallerKind, account: PrivateKeyAccount) => {
    const signer = { address: account.address, sign: (message: string) => account.signMessage({ message }) }
    if (kind === 'wallet')
      return async (purpose: string): Promise<RequestOptions> => ({
        headers: await signOnce(market, signer, purpose),
      })
    const bearer =
      kind === 'agent'
        ? (await makeOwnedAgent(market, {}, signer)).apiKey
        : (await makeUser(market, { wallets: [account.address] })).token
    return async (): Promise<RequestOptions> => ({ bearer })
  }

  const newDepositor = async (kind: CallerKind) => {
    const account = privateKeyToAccount(generatePrivateKey())
    await chain.fund(account.address)
    await chain.included(await chain.mint(account.address, START))
    const askFor = await credentialsOf(kind, account)
    const positions = async () =>
      (await market.client().get('/api/earn/pool/positions', await askFor('session'))).body
    return {
      account,
      askFor,
      positions,
      balance: () => chain.balanceOf(account.address),
      send: (micros: bigint) => chain.transfer(account, treasury, micros),
      register: async (hash: string, usd: bigint): Promise<Reply> =>
        market
          .client()
          .post(
            '/api/earn/pool/deposit',
            { amount_usd: `${usd}.00`, incoming_tx_hash: hash },
            await askFor(`earn.deposit:${hash}`),
          ),
      withdraw: async (fields: Fields = { all: true }): Promise<Reply> =>
        market.client().post('/api/earn/pool/withdraw', fields, await askFor('earn.withdraw:::')),
      deposits: async () => (await positions())['deposits'] as Listed[],
      withdrawals: async () => (await positions())['withdrawals'] as Listed[],
    }
  }

  return {
    market,
    db,
    chain,
    treasury,
    workers,
    vault: venue.vault,
    wallet: venue.wallet,
    newDepositor,
    addWorker: async () => {
      const worker = await market.startWorker(WORKER)
      workers.push(worker)
      return worker
    },
    stop: market.stop,
  }
}

export const untilActive = (depositor: Depositor): Promise<void> =>
  until(
    'the deposit has shares',
    async () => (await depositor.deposits()).every(({ status }) => status === 'active'),
    LONG,
  )

/** All withdrawals were paid, and their payouts are final. */
export const untilPaid = (depositor: Depositor): Promise<void> =>
  until(
    'the withdrawals are paid',
    async () =>
      (await depositor.withdrawals()).every(
        ({ status, payouts }) =>
          status === 'settled' && payouts.length > 0 && payouts.every((payout) => payout.status === 'sent'),
      ),
    LONG,
  )

/** Depositors whose deposits, made at once, have shares. */
export async function enterAll(
  world: ProcessWorld,
  kinds: readonly CallerKind[],
  usd: bigint,
): Promise<Depositor[]> {
  const depositors: Depositor[] = []
  // One after the other, because the issuer of the test's USDC numbers its own transactions.
  for (const kind of kinds) depositors.push(await world.newDepositor(kind))
  const enter = async (depositor: Depositor) => {
    const reply = await depositor.register(await depositor.send(usd * USD), usd)
    expect([201, 202]).toContain(reply.status)
    await untilActive(depositor)
  }
  await Promise.all(depositors.map(enter))
  return depositors
}

/** Ledger, shares, chain and payouts agree to the micro-dollar, and no process says otherwise. */
export async function expectWhole({ db, market, chain, treasury, vault, wallet }: ProcessWorld) {
  await until(
    'the ledger has what the treasury has',
    async () => (await totals(db, 'base-mainnet')).treasuryView === (await chain.balanceOf(treasury)),
    LONG,
  )
  expect((await totals(db, 'base-mainnet')).imbalance).toBe(0n)
  const { rows } = await sql<{ total: string; held: string; venue: string; minted: string; burned: string }>`
    select total_shares::text as total, venue_shares::text as venue,
      (select coalesce(sum(shares), 0) from earn_positions)::text as held,
      (select coalesce(sum(shares), 0) from earn_deposits where status = 'active')::text as minted,
      (select coalesce(sum(burned_shares), 0) from earn_withdrawals)::text as burned from earn_pools`.execute(
    db,
  )
  const [pool] = rows
  expect(pool?.held).toBe(pool?.total)
  expect(BigInt(pool?.minted ?? 0) - BigInt(pool?.burned ?? 0)).toBe(BigInt(pool?.total ?? 0))
  expect(await vault.sharesOf(wallet)).toBe(BigInt(pool?.venue ?? 0))
  const { body } = await market.client().get('/api/solvency')
  expect(body.data).toMatchObject([{ network: 'base-mainnet', solvent: true }])
}

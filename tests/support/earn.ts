import { randomBytes } from 'node:crypto'
import type { VenueMarket } from '@market/core/ports/venue'
import type { Db } from '@market/database/transact'
import { systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { claimTransfer } from '@market/money/payments'
import { testClock } from '@market/testing/clock'
import { marketContext } from '@market/testing/market-context'
import { startOrderWorld } from '../orders/order-world.ts'
import type { Market } from './market.ts'
import { insertNamed } from './named-transfers.ts'
import { someHash } from './treasury.ts'

/** Shares are counted in units of 10^-12. */
export const SHARE = 10n ** 12n
const USD = 1_000_000n
const NETWORK = 'base-mainnet'

const someVault = (): string => `0x${randomBytes(20).toString('hex')}`
/** Holds the shares of vaults. */
const WALLET = someVault()

const marketOf = (venue: string, kind: VenueMarket['kind']): VenueMarket => ({
  key: `${venue}:usdc`,
  venue,
  market: 'usdc',
  kind,
  label: `USDC of ${venue}`,
  network: NETWORK,
  vault: someVault(),
})

export const LENDING = marketOf('lender', 'lending')
export const LIQUIDITY = marketOf('traders', 'liquidity_provision')

/** The settings of an api with these markets. */
const earnSettings = (markets: readonly VenueMarket[] = [LENDING, LIQUIDITY]) => ({
  EARN_MARKETS: JSON.stringify(markets.map(({ key: _, ...one }) => one)),
  BASE_VENUE_WALLET: WALLET,
})

export type EarnWorld = Awaited<ReturnType<typeof startEarnWorld>>

/** The api with two markets on a real chain, and pools as a worker writes them. No worker runs. */
export async function startEarnWorld() {
  const orders = await startOrderWorld(earnSettings())
  const { market } = orders
  await startPools(market)
  return { ...orders, refresh: () => refreshPools(market) }
}

/** The pools of both markets. */
export async function startPools(market: Pick<Market, 'db'>): Promise<void> {
  for (const one of [LENDING, LIQUIDITY]) await insertPool(market, one)
}

/** A pool as a worker adds it and reads it. */
async function insertPool({ db }: Pick<Market, 'db'>, { key, network, kind, vault }: VenueMarket) {
  await db
    .insertInto('earn_pools')
    .values({ key, network, kind, vault, wallet: WALLET, created_at: new Date() })
    .execute()
  await setReading({ db }, key, {})
}

interface Reading {
  readonly tvl?: bigint
  readonly liquid?: bigint
  readonly accepts?: boolean
  readonly paused?: 'held' | 'price' | 'wallet' | null
  readonly at?: Date
}

/** The newest reading of a pool's venue. */
export async function setReading({ db }: Pick<Market, 'db'>, key: string, reading: Reading): Promise<void> {
  const { tvl = 5_000_000n * USD, liquid = 0n, accepts = true, paused = null, at = new Date() } = reading
  await db
    .updateTable('earn_pools')
    .set((row) => ({
      ...{ read_at: at, tvl_micros: tvl, liquid_micros: liquid, accepts_deposits: accepts, paused },
      value_micros: row.fn.coalesce('value_micros', row.val(0n)),
      valued_shares: row.fn.coalesce('valued_shares', row.val('0')),
    }))
    .where('key', '=', key)
    .execute()
}

/** How many shares wait in a pool, and what its vault would pay now. */
export const setQueued = async (
  { db }: Pick<Market, 'db'>,
  key: string,
  shares: bigint,
  liquid: bigint,
): Promise<void> => {
  await setReading({ db }, key, { liquid })
  await db
    .updateTable('earn_pools')
    .set({ queued_shares: String(shares) })
    .where('key', '=', key)
    .execute()
}

/** A reading counts for two minutes, and no worker makes another one. */
const refreshPools = async (market: Pick<Market, 'db'>) => {
  for (const { key } of [LENDING, LIQUIDITY]) await setReading(market, key, {})
}

/** While the reading is another one; afterwards it is healthy again. */
export async function whileRead<T>(
  market: Pick<Market, 'db'>,
  reading: Reading,
  work: () => Promise<T>,
): Promise<T> {
  await setReading(market, LENDING.key, reading)
  try {
    return await work()
  } finally {
    await setReading(market, LENDING.key, {})
  }
}

const contextOf = (db: Db) => ({
  ...marketContext({ db, clock: testClock(new Date()) }),
  ids: idSource(systemClock),
})

interface Holding {
  readonly poolKey?: string
  readonly shares?: bigint
  readonly micros?: bigint
  /** The wallets that paid, in lower case: one deposit each. */
  readonly payers?: readonly string[]
}

/** Shares of a holder, as active deposits leave them. */
export async function giveShares({ db }: Pick<Market, 'db'>, holder: string, holding: Holding = {}) {
  const { poolKey = LENDING.key, shares = 100n * SHARE, micros = 100n * USD, payers = [] } = holding
  const at = new Date()
  await db
    .insertInto('earn_positions')
    .values({ pool_key: poolKey, holder, shares: String(shares), principal_micros: micros, updated_at: at })
    .execute()
  // One share of the vault is behind each.
  await db
    .updateTable('earn_pools')
    .set((row) => ({
      ...{ ratio_shares: '1', ratio_vault_shares: '1' },
      total_shares: row('total_shares', '+', String(shares)),
      venue_shares: row('venue_shares', '+', String(shares)),
      value_micros: row('value_micros', '+', micros),
      valued_shares: row('valued_shares', '+', String(shares)),
    }))
    .where('key', '=', poolKey)
    .execute()
  for (const payer of payers) await insertActive(db, holder, { poolKey, payer, shares, micros })
}

const STEPS = ['approving', 'depositing', 'done'] as const

/** A deposit whose shares exist, with its transfer and its finished move. */
async function insertActive(
  db: Db,
  holder: string,
  {
    poolKey,
    payer,
    shares,
    micros,
  }: Required<Pick<Holding, 'poolKey' | 'shares' | 'micros'>> & { payer: string },
): Promise<void> {
  const ctx = contextOf(db)
  const [at, reference, venueTransferId, id] = [
    new Date(),
    someHash(),
    ctx.ids.next('emv'),
    ctx.ids.next('edp'),
  ]
  await db.transaction().execute(async (tx) => {
    await tx
      .insertInto('venue_transfers')
      .values({
        ...{
          id: venueTransferId,
          kind: 'deploy',
          pool_key: poolKey,
          network: NETWORK,
          amount_micros: micros,
        },
        ...{ state: 'funding', created_at: at, updated_at: at },
      })
      .execute()
    for (const state of STEPS)
      await tx.updateTable('venue_transfers').set({ state }).where('id', '=', venueTransferId).execute()
    await tx
      .insertInto('earn_deposits')
      .values({
        ...{ id, pool_key: poolKey, holder, network: NETWORK, amount_micros: micros },
        ...{
          status: 'active',
          moved_micros: micros,
          payer,
          shares: String(shares),
          value_micros: micros,
        },
        ...{ created_at: at, updated_at: at },
      })
      .execute()
    const part = { venue_transfer_id: venueTransferId, deposit_id: id, amount_micros: micros }
    await tx
      .insertInto('earn_deposit_parts')
      .values({ ...part, shares: String(shares) })
      .execute()
  })
  await insertNamed(db, {
    purpose: { kind: 'earn_deposit', id },
    reference,
    scope: holder,
    status: 'confirmed',
  })
  const block = { height: 1n, hash: someHash() }
  const seen = {
    reference,
    index: 0,
    amount: usdc(micros),
    payer,
    at,
    block,
    final: true,
    attachedData: null,
  }
  await ctx.transact((tx) =>
    claimTransfer(ctx, tx, {
      network: NETWORK,
      seen,
      purpose: { kind: 'earn_deposit', id },
      due: usdc(micros),
    }),
  )
  // Only then a worker gives shares.
  await db.updateTable('transfers').set({ state: 'final' }).where('reference', '=', reference).execute()
}

type Status = 'waiting' | 'received' | 'refunded' | 'held' | 'failed'

/** A deposit that got no shares. `failure` counts for those that ended. */
export async function insertDeposit(
  { db }: Pick<Market, 'db'>,
  holder: string,
  {
    status,
    failure = 'It failed.',
    reference = someHash(),
  }: { status: Status; failure?: string; reference?: string },
): Promise<void> {
  const at = new Date()
  const hasEnded = status !== 'waiting' && status !== 'received'
  const id = contextOf(db).ids.next('edp')
  const named = status === 'waiting' || status === 'failed' ? status : 'confirmed'
  await insertNamed(db, { purpose: { kind: 'earn_deposit', id }, reference, scope: holder, status: named })
  await db
    .insertInto('earn_deposits')
    .values({
      ...{ id, pool_key: LENDING.key, holder, network: NETWORK },
      ...{ amount_micros: 5n * USD, status, failure: hasEnded ? failure : null },
      ...{ created_at: at, updated_at: at },
    })
    .execute()
}

interface Stored {
  readonly status: 'requested' | 'queued' | 'settled' | 'rejected'
  readonly burned_shares?: string
  readonly open_shares?: string
  readonly paid_micros?: bigint
  readonly filled_micros?: bigint
  readonly failure?: string
}

/** A withdrawal as the api and the worker write it. */
export async function insertWithdrawal(
  { db }: Pick<Market, 'db'>,
  holder: string,
  withdrawal: Stored & { readonly destination: string; readonly shares?: string },
): Promise<void> {
  const at = new Date()
  const id = contextOf(db).ids.next('ewd')
  await db
    .insertInto('earn_withdrawals')
    .values({ id, pool_key: LENDING.key, holder, ...withdrawal, created_at: at, updated_at: at })
    .execute()
}

/** Decides the next withdrawal of a holder, as a worker writes it. */
export async function decideNext(
  { db }: Pick<Market, 'db'>,
  holder: string,
  decision: Stored,
): Promise<void> {
  for (;;) {
    const decided = await db
      .updateTable('earn_withdrawals')
      .set(decision)
      .where('holder', '=', holder)
      .where('status', '=', 'requested')
      .returning('id')
      .execute()
    if (decided.length > 0) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

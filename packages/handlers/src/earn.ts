import { type Actor, nameOf } from '@market/core/context'
import type { VenueMarket } from '@market/core/ports/venue'
import { depositPurpose, listDeposits, type NamedDeposit } from '@market/earn/deposits'
import {
  FIRST_DEPOSIT_MIN,
  listMarkets,
  listPools,
  type MarketView,
  type PoolView,
  requirePool,
  riskOf,
} from '@market/earn/pools'
import {
  awaitWithdrawal,
  describeWithdrawal,
  type HeldPosition,
  type ListedWithdrawal,
  listPositions,
  listWithdrawals,
  requestWithdrawal,
  SMALLEST_PART,
  type Withdrawal,
} from '@market/earn/withdrawals'
import { findOwnedAgents, ownerIn } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { inferNetwork, normalizeReference } from '@market/money/payments'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { payByTransfer } from './name-transfer.ts'
import { moneyOf } from './parse.ts'
import { presentWallet } from './present-agent.ts'
import { presentPayout } from './present-payout.ts'
import { presentShares, SHARE_DECIMALS } from './present-shares.ts'

type ListedDeposit = Awaited<ReturnType<typeof listDeposits>>[number]

const AGENT = 'agent:'

/** Of a number that the contract has validated. */
const unitsOf = (shares: string): bigint => {
  const [whole = '', decimals = ''] = shares.split('.')
  return BigInt(whole + decimals.padEnd(SHARE_DECIMALS, '0'))
}

const sharesOrNull = (units: bigint | null): string | null => (units === null ? null : presentShares(units))
const usdOrNull = (amount: Usdc | null): string | null => (amount === null ? null : formatUsd(amount))

/** Null while the network cannot be reached. */
const treasuryOf = ({ chains }: HandlerContext, { network }: Pick<VenueMarket, 'network'>): string | null =>
  chains[network]?.treasury ?? null

function presentMarket(market: MarketView, ctx: HandlerContext) {
  const { key, venue, kind, label, network, aprPct, paused } = market
  const treasury = treasuryOf(ctx, market)
  return {
    ...{ key, venue, market: market.market, kind, label, network },
    treasury_wallet: treasury,
    ...(kind === 'lending' ? { apr_pct: aprPct } : { fee_apr_pct: aprPct }),
    tvl_usd: formatUsd(market.tvl),
    available_usd: formatUsd(market.available),
    depositable: market.isDepositable && treasury !== null,
    paused: paused !== null,
    first_deposit_min_usd: formatUsd(FIRST_DEPOSIT_MIN),
    withdraw_min_usd: formatUsd(SMALLEST_PART),
    risk: riskOf(kind),
  }
}

const presentPool = ({ key, venue, kind, totalShares, nav, paused, ...pool }: PoolView) => ({
  ...{ key, venue, kind },
  paused: paused !== null,
  total_shares: presentShares(totalShares),
  nav_usd: formatUsd(nav),
  share_price: formatUsd(pool.sharePrice),
  free_liquidity_usd: formatUsd(pool.freeLiquidity),
  queued_withdrawals_usd: formatUsd(pool.queuedWithdrawals),
})

const agentIn = (holder: string) => (holder.startsWith(AGENT) ? { agent_id: holder.slice(AGENT.length) } : {})

const presentPosition = ({ poolKey, holder, shares, principal, value, ...queued }: HeldPosition) => ({
  key: poolKey,
  shares: presentShares(shares),
  principal_usd: formatUsd(principal),
  value_usd: formatUsd(value),
  queued_shares: presentShares(queued.queuedShares),
  queued_value_usd: formatUsd(queued.queuedValue),
  unpaid_usd: formatUsd(queued.unpaid),
  ...agentIn(holder),
})

const presentDeposit = (deposit: NamedDeposit) => ({
  deposit_id: deposit.id,
  key: deposit.poolKey,
  network: deposit.network,
  amount_usd: formatUsd(deposit.amount),
  incoming_tx_hash: deposit.reference,
  status: deposit.status,
  failure: deposit.failure,
  shares: sharesOrNull(deposit.shares),
  value_usd: usdOrNull(deposit.value),
  created_at: deposit.createdAt.toISOString(),
  updated_at: deposit.updatedAt.toISOString(),
})

const presentListedDeposit = (deposit: ListedDeposit) => ({
  ...presentDeposit(deposit),
  refund: presentPayout(deposit.refund),
  ...agentIn(deposit.holder),
})

/** What the vault pays for now is settled, also while its payout is being requested. */
const statusOf = ({ status, isLiquid, waitsFor }: ListedWithdrawal): Withdrawal['status'] =>
  status === 'queued' && isLiquid && waitsFor === null ? 'settled' : status

const presentWithdrawn = (withdrawal: ListedWithdrawal, ctx: HandlerContext) => ({
  withdrawal_id: withdrawal.id,
  key: withdrawal.poolKey,
  shares_burned: sharesOrNull(withdrawal.burnedShares),
  amount_usd: usdOrNull(withdrawal.amount),
  amount_is_final: withdrawal.isFinal,
  paid_usd: formatUsd(withdrawal.filled),
  open_shares: presentShares(withdrawal.openShares + withdrawal.recalledShares),
  open_value_usd: formatUsd(withdrawal.openValue),
  waits_for: withdrawal.waitsFor,
  destination_wallet: presentWallet(ctx, withdrawal.destination) ?? withdrawal.destination,
})

const presentListedWithdrawal = (withdrawal: ListedWithdrawal, ctx: HandlerContext) => ({
  ...presentWithdrawn(withdrawal, ctx),
  status: statusOf(withdrawal),
  failure: withdrawal.failure,
  shares: sharesOrNull(withdrawal.shares),
  payouts: withdrawal.fills.flatMap(({ payout }) => presentPayout(payout) ?? []),
  created_at: withdrawal.createdAt.toISOString(),
  ...agentIn(withdrawal.holder),
})

/** Of an owner with more agents, the positions of the newest are listed. */
const MAX_AGENTS = 100

/** The caller, and the agents of an owner. */
async function holdersOf(ctx: HandlerContext, actor: Actor): Promise<string[]> {
  const owned =
    actor.kind === 'agent'
      ? []
      : await findOwnedAgents(ctx.db, ownerIn(actor), undefined, { limit: MAX_AGENTS })
  return [nameOf(actor), ...owned.map(({ id }) => `${AGENT}${id}`)]
}

/** A hash does not name its EVM network: it is looked up on that of the pool. */
function referenceOn(network: VenueMarket['network'], hash: string): string {
  if (inferNetwork(hash) !== 'solana-mainnet') return normalizeReference(network, hash)
  throw new ApiError(
    'invalid',
    `This pool takes transfers on ${network} only, and incoming_tx_hash is not a transaction hash on ${network}. Send USDC there and name that transfer.`,
    {
      code: 'bad_reference',
      details: [{ path: 'incoming_tx_hash', message: `must be a transaction hash on ${network}, 0x…` }],
    },
  )
}

/** Of a market that is no longer configured, the risks of both kinds. */
const riskIn = ({ earnMarkets }: HandlerContext, poolKey: string): string =>
  riskOf(earnMarkets.find(({ key }) => key === poolKey)?.kind ?? 'liquidity_provision')

/** Waits for the worker. A rejected withdrawal is an error. */
const awaitDecision = async (ctx: HandlerContext, requested: ListedWithdrawal): Promise<ListedWithdrawal> =>
  describeWithdrawal(ctx, await awaitWithdrawal(ctx, requested))

/** Of the last payout, once it is final. */
const txHashOf = ({ status, fills }: ListedWithdrawal) =>
  status === 'settled' ? fills.at(-1)?.payout?.finalReference : undefined

function presentWithdrawal(withdrawal: ListedWithdrawal, ctx: HandlerContext) {
  const status = statusOf(withdrawal)
  assert(status !== 'rejected', `${withdrawal.id} was not rejected`)
  const txHash = txHashOf(withdrawal)
  return {
    data: {
      ...presentWithdrawn(withdrawal, ctx),
      status,
      ...(txHash != null && { tx_hash: txHash }),
      risk: riskIn(ctx, withdrawal.poolKey),
    },
    isLater: status === 'requested',
  }
}

export const earnHandlers = {
  listEarnMarkets: handler('listEarnMarkets', {
    run: (ctx) => listMarkets(ctx, ctx.earnMarkets),
    present: (found, ctx) => {
      const markets = found.map((market) => presentMarket(market, ctx))
      const standard = markets.find(({ key }) => key === ctx.earnMarkets[0]?.key)
      return { data: { treasury_wallet: standard?.treasury_wallet ?? null, markets } }
    },
  }),

  listEarnPools: handler('listEarnPools', {
    run: (ctx) => listPools(ctx, ctx.earnMarkets),
    present: (pools) => ({ data: pools.map(presentPool) }),
  }),

  listEarnPositions: handler('listEarnPositions', {
    run: async (ctx) => {
      const holders = await holdersOf(ctx, await loadActor(ctx))
      const [positions, deposits, withdrawals] = await Promise.all([
        listPositions(ctx, holders),
        listDeposits(ctx, holders),
        listWithdrawals(ctx, holders),
      ])
      return { positions, deposits, withdrawals }
    },
    present: ({ positions, deposits, withdrawals }, ctx) => ({
      data: positions.map(presentPosition),
      deposits: deposits.map(presentListedDeposit),
      withdrawals: withdrawals.map((one) => presentListedWithdrawal(one, ctx)),
    }),
  }),

  depositToEarn: handler('depositToEarn', {
    run: async (ctx, { key, amount_usd, incoming_tx_hash }) => {
      const pool = await requirePool(ctx, ctx.earnMarkets, key)
      const transfer = {
        key: pool.key,
        amount: moneyOf(amount_usd),
        network: pool.network,
        reference: referenceOn(pool.network, incoming_tx_hash),
      }
      // A leaked API key proves no wallet: the owner's wallets sign themselves.
      return payByTransfer(ctx, await loadActor(ctx), depositPurpose, transfer)
    },
    present: (deposit, ctx) => ({
      data: { ...presentDeposit(deposit), risk: riskIn(ctx, deposit.poolKey) },
      isLater: deposit.status === 'waiting',
    }),
  }),

  withdrawFromEarn: handler('withdrawFromEarn', {
    run: async (ctx, { key, shares, destination_wallet }) => {
      const wanted = {
        key,
        shares: shares === undefined ? null : unitsOf(shares),
        destination: destination_wallet?.toLowerCase(),
      }
      const keyHint = ctx.caller.agent?.apiKeyHint
      return requestWithdrawal(ctx, await loadActor(ctx), wanted, keyHint)
    },
    afterCommit: awaitDecision,
    present: presentWithdrawal,
  }),
}

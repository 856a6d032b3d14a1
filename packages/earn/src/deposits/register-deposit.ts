import { type Actor, type Needs, ownerWallets, payerWallets } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { VenueMarket } from '@market/core/ports/venue'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { lockBuyer } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { FOREVER } from '@market/kernel/clock'
import { formatUsd, type Usdc } from '@market/kernel/money'
import { claimTransfer, findPayment, openIntent } from '@market/money/payments'
import { returnSurplus } from '@market/money/payouts'
import { releaseContested } from '@market/trade/x402'
import {
  equityOf,
  FIRST_DEPOSIT_MIN,
  holderOf,
  type MintProblem,
  mintProblem,
  type Pool,
  requirePool,
} from '../pools/index.ts'
import { type Deposit, purposeOf } from './deposit.ts'
import { findNamed, insertDeposit } from './store.ts'

/** A transfer of any age: only the caller's own wallets count as payers, and a transfer is used once. */
// fix: any-age
const NOT_BEFORE = new Date(0)

export interface NewDeposit {
  /** Undefined: the first configured market. */
  readonly key: string | undefined
  readonly amount: Usdc
  /** The hash of the transaction, normalized. */
  readonly reference: string
}

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains' | 'vault'> & {
  readonly earnMarkets: readonly VenueMarket[]
}

/**
 * Registers a transfer to the treasury as a deposit. The chain is queried before the transaction starts. A transfer without
 * enough confirmations is waited for. Named again by the same holder, it is the same deposit.
 */
export async function registerDeposit(
  ctx: Ctx,
  actor: Actor,
  { key, amount, reference }: NewDeposit,
  /** Of the API key that the request was authenticated with. */
  keyHint?: string,
): Promise<Deposit> {
  const pool = await requirePool(ctx, ctx.earnMarkets, key)
  const { network } = pool
  const holder = holderOf(actor)
  const named = { holder, network, reference }
  const known = await findNamed(ctx.db, named)
  if (known !== undefined) return ctx.transact(async () => again(known, pool, amount))
  await requireDepositable(ctx, pool, amount)
  const payers = payersOf(actor, network)
  const transfer = await findTransfer(ctx, pool, { reference, amount }, payers)

  return ctx.transact(async (tx) => {
    await lockBuyer(tx, holder, keyHint)
    const before = await findNamed(tx, named)
    if (before !== undefined) return again(before, pool, amount)
    const contest = await releaseContested(ctx, tx, {
      network,
      reference,
      index: transfer instanceof ApiError ? undefined : transfer?.index,
      buyer: holder,
      payers: payerWallets(actor, network),
    })
    if (contest instanceof ApiError) return new CommitThenReject(contest)
    if (transfer instanceof ApiError) {
      if (contest === 'released') return new CommitThenReject(transfer)
      throw transfer
    }
    const deposit = await insertDeposit(tx, {
      id: ctx.ids.next('edp'),
      poolKey: pool.key,
      ...named,
      amount,
      status: transfer === undefined ? 'waiting' : 'received',
      createdAt: ctx.clock.now(),
    })
    if (deposit === undefined) return again(await requireNamed(tx, named), pool, amount)
    await (transfer === undefined
      ? awaitTransfer(ctx, tx, deposit, payers)
      : receive(ctx, tx, deposit, transfer))
    return deposit
  })
}

/** The deposit that another request of the holder has added. */
async function requireNamed(tx: Tx, named: Parameters<typeof findNamed>[1]): Promise<Deposit> {
  const deposit = await findNamed(tx, named)
  assert(deposit !== undefined, `${named.reference} is named`)
  return deposit
}

/** Claims the transfer; what it brought above the amount is returned. */
export async function receive(
  ctx: Needs<'clock' | 'ids' | 'chains'>,
  tx: Tx,
  deposit: Deposit,
  transfer: IncomingTransfer,
): Promise<void> {
  const { network, id, amount } = deposit
  const purpose = purposeOf(deposit)
  await claimTransfer(ctx, tx, { network, seen: transfer, purpose, due: amount })
  await returnSurplus(ctx, tx, { network, subject: id, purpose, due: amount }, transfer)
}

export async function awaitTransfer(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  deposit: Deposit,
  payers: readonly string[] | null,
): Promise<void> {
  const { network, reference, amount } = deposit
  await openIntent(ctx, tx, {
    purpose: purposeOf(deposit),
    network,
    reference,
    payers,
    due: amount,
    notBefore: NOT_BEFORE,
    submission: null,
  })
}

function again(deposit: Deposit, { key }: Pool, amount: Usdc): Deposit {
  if (deposit.poolKey === key && deposit.amount === amount) return deposit
  throw new ApiError(
    'conflict',
    `This transfer is registered as ${deposit.id}: ${formatUsd(deposit.amount)} USDC for ${deposit.poolKey}. Each transfer is one deposit.`,
    { code: 'transfer_used' },
  )
}

/** Only wallets of the caller count. Otherwise anyone could deposit another user's transfer. */
function payersOf(actor: Actor, network: Pool['network']): string[] {
  const own = [...payerWallets(actor, network), ...ownerWallets(actor, network)]
  if (own.length > 0) return [...new Set(own)]
  throw new ApiError(
    'invalid',
    `No wallet of yours is proven on ${network}. Sign this request with the wallet that paid, or link it to your account.`,
    { code: 'payer_unknown' },
  )
}

async function findTransfer(
  ctx: Ctx,
  { network }: Pool,
  { reference, amount }: Pick<NewDeposit, 'reference' | 'amount'>,
  payers: readonly string[],
): Promise<IncomingTransfer | undefined | ApiError> {
  try {
    return await findPayment(ctx, network, {
      reference,
      minAmount: amount,
      payers,
      notBefore: NOT_BEFORE,
      notAfter: FOREVER,
    })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error
  }
}

const MESSAGES: Readonly<Record<MintProblem, string>> = {
  below_first_minimum: `The first deposit into an empty pool is at least ${formatUsd(FIRST_DEPOSIT_MIN)} USD. Your transfer was not used: get it back by POST /api/unmatched-transfers/{id}/refund.`,
  worth_nothing: 'This amount is worth no share of the pool. Deposit more.',
  loses_too_much: 'This deposit would lose too much by rounding. Deposit more.',
}

async function requireDepositable(ctx: Ctx, pool: Pool, amount: Usdc): Promise<void> {
  const keeps =
    'Your transfer was not used: register it later, use another market of GET /api/earn/pool/markets, or get it back by POST /api/unmatched-transfers/{id}/refund.'
  if (pool.paused !== null)
    throw new ApiError('conflict', `${pool.key} stands still while its venue is checked. ${keeps}`, {
      code: 'pool_paused',
    })
  if (pool.reading?.acceptsDeposits !== true)
    throw new ApiError('conflict', `${pool.key} takes no deposits now. ${keeps}`, { code: 'not_depositable' })
  const problem = mintProblem(amount, await equityOf(ctx.db, pool))
  if (problem !== undefined) throw new ApiError('invalid', MESSAGES[problem], { code: problem })
}

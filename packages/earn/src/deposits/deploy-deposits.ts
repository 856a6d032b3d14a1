import { type Tx, transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { type Usdc, usdc } from '@market/kernel/money'
import { balanceOf } from '@market/money/ledger'
import { escrowAccount, findTransferFor, type Transfer } from '@market/money/payments'
import { hasUnspent, minPayoutOn, payoutIdOf, saveSpent } from '@market/money/payouts'
import {
  type EarnContext,
  equityOf,
  findPool,
  lockPool,
  mintProblem,
  type Pool,
  sharesFor,
} from '../pools/index.ts'
import { requestDeploy } from '../venue-transfers/index.ts'
import { type Deposit, purposeOf } from './deposit.ts'
import { refundDeposit } from './refund-deposit.ts'
import { lockReceived, saveDeposit } from './store.ts'

/** More wait for the next move. */
const BATCH = 100
/** A smaller move waits for more deposits: it costs the gas of three transactions. */
const SMALLEST_MOVE = usdc(1_000_000n)
/** A deposit that no others joined in this time is refunded. */
const LONGEST_WAIT_MS = 30 * DAY

/** Moves the deposits of a pool whose transfers are final to the venue, and refunds those that it cannot take. */
export async function deployDeposits(ctx: EarnContext, key: string): Promise<void> {
  const chosen = await chooseDeposits(ctx, key)
  if (chosen === undefined) return
  const { ids, problem } = chosen
  await transact(ctx.db, async (tx) => {
    const pool = await lockPool(tx, key)
    const ready = (await findReady(tx, pool)).filter(({ deposit }) => ids.includes(deposit.id))
    if (problem !== undefined) return refundAll(ctx, tx, ready, problem)
    await begin(ctx, tx, pool, ready)
  })
}

interface Chosen {
  readonly ids: readonly string[]
  /** Why the venue does not take them. */
  readonly problem: string | undefined
}

/** All that are ready; or the largest one, when the venue does not take all of them at once. */
async function chooseDeposits(ctx: EarnContext, key: string): Promise<Chosen | undefined> {
  const { db, venues } = ctx
  const [pool, venue] = [await findPool(db, key), venues[key]]
  if (pool === undefined || venue === undefined) return undefined
  const ready = (await transact(db, (tx) => findReady(tx, pool))).map(({ deposit }) => deposit)
  const [first] = ready
  if (first === undefined) return undefined
  const ids = ready.map(({ id }) => id)
  if (pool.paused !== null) return { ids, problem: `${key} takes no deposits at the moment` }
  if (isTooSmall(ctx, pool, ready)) return { ids, problem: undefined }
  const problem = await venue.depositProblem(sumOf(ready))
  if (problem === undefined || ready.length === 1) return { ids, problem }
  return { ids: [first.id], problem: await venue.depositProblem(first.amount) }
}

/** A deposit and the transfer that backs it. */
interface Ready {
  readonly deposit: Deposit
  readonly transfer: Transfer & { readonly payer: string }
}

/** What the treasury has for good. Those that nothing backs stay where they are and delay no others. */
async function findReady(tx: Tx, pool: Pool): Promise<Ready[]> {
  const ready: Ready[] = []
  for (let after: Deposit | undefined; ; ) {
    const page = await lockReceived(tx, pool.key, BATCH, after)
    for (const deposit of page) {
      const transfer = await findBacking(tx, pool, deposit)
      if (transfer !== undefined) ready.push({ deposit, transfer })
      if (ready.length === BATCH) return ready
    }
    after = page.at(-1)
    if (page.length < BATCH) return ready
  }
}

/**
 * The row alone counts for nothing. Its transfer is final and on the pool's network, the ledger holds it for this deposit,
 * and nothing else was paid from it: neither a payout nor another deposit.
 */
async function findBacking(
  tx: Tx,
  { network }: Pool,
  deposit: Deposit,
): Promise<Ready['transfer'] | undefined> {
  const { amount } = deposit
  const purpose = purposeOf(deposit)
  const transfer = await findTransferFor(tx, purpose)
  if (transfer?.state !== 'final' || transfer.network !== network || transfer.due !== amount) return undefined
  const { payer } = transfer
  const isHeld = (await balanceOf(tx, escrowAccount(network, purpose))) >= amount
  return payer !== null && isHeld && (await hasUnspent(tx, transfer, amount))
    ? { ...transfer, payer }
    : undefined
}

const isTooSmall = (ctx: EarnContext, { network }: Pool, deposits: readonly Deposit[]): boolean =>
  sumOf(deposits) < SMALLEST_MOVE || sumOf(deposits) < minPayoutOn(ctx, network)

const sumOf = (deposits: readonly Deposit[]): Usdc =>
  usdc(deposits.reduce((sum, { amount }) => sum + amount, 0n))

async function refundAll(ctx: EarnContext, tx: Tx, ready: readonly Ready[], why: string): Promise<void> {
  for (const { deposit } of ready) await refundDeposit(ctx, tx, deposit, why)
}

const PROBLEMS = {
  below_first_minimum: 'The first deposit into an empty pool is too small',
  worth_nothing: 'The amount is worth no share of the pool',
  loses_too_much: 'The deposit would lose too much by rounding',
} as const

/** Refunds those that cannot enter the pool, and begins one move with the others when they are enough. */
async function begin(ctx: EarnContext, tx: Tx, pool: Pool, ready: readonly Ready[]): Promise<void> {
  let equity = await equityOf(tx, pool)
  const taken: Ready[] = []
  for (const one of ready) {
    const { deposit } = one
    const problem = mintProblem(deposit.amount, equity)
    if (problem !== undefined) {
      await refundDeposit(ctx, tx, deposit, PROBLEMS[problem])
      continue
    }
    const minted = sharesFor(deposit.amount, equity)
    equity = { micros: equity.micros + deposit.amount, shares: equity.shares + minted }
    taken.push(one)
  }
  const deposits = taken.map(({ deposit }) => deposit)
  // fix: smallest-move
  if (isTooSmall(ctx, pool, deposits)) {
    const since = earlier(ctx.clock.now(), LONGEST_WAIT_MS)
    for (const deposit of deposits.filter(({ createdAt }) => createdAt < since))
      await refundDeposit(ctx, tx, deposit, 'Too few deposits came to move them to the venue')
    return
  }
  const move = await requestDeploy(ctx, tx, pool, sumOf(deposits))
  const id = payoutIdOf('move_to_venue', move.id)
  for (const { deposit, transfer } of taken) {
    const { payer } = transfer
    await saveSpent(tx, { id, amount: deposit.amount }, transfer)
    await saveDeposit(tx, deposit, { status: 'deploying', venueTransferId: move.id, payer }, ctx.clock.now())
  }
}

import { type Tx, transact } from '@market/database/transact'
import { type Usdc, usdc } from '@market/kernel/money'
import { findTransferFor } from '@market/money/payments'
import { requestDeploy } from '../moves/index.ts'
import {
  type EarnContext,
  equityOf,
  findPool,
  lockPool,
  mintProblem,
  type Pool,
  sharesFor,
} from '../pools/index.ts'
import { type Deposit, purposeOf } from './deposit.ts'
import { refundDeposit } from './refund-deposit.ts'
import { lockInStatus, saveDeposit } from './store.ts'

/** More wait for the next move. */
const BATCH = 100

/** Moves the deposits of a pool whose transfers are final to the venue, and refunds those that it cannot take. */
export async function deployDeposits(ctx: EarnContext, key: string): Promise<void> {
  const chosen = await chooseDeposits(ctx, key)
  if (chosen === undefined) return
  const { ids, problem } = chosen
  await transact(ctx.db, async (tx) => {
    const pool = await lockPool(tx, key)
    const deposits = (await findReady(tx, key)).filter(({ id }) => ids.includes(id))
    if (problem !== undefined) return refundAll(ctx, tx, deposits, problem)
    await begin(ctx, tx, pool, deposits)
  })
}

interface Chosen {
  readonly ids: readonly string[]
  /** Why the venue does not take them. */
  readonly problem: string | undefined
}

/** All that are ready; or the oldest one, when the venue does not take all of them at once. */
async function chooseDeposits({ db, venues }: EarnContext, key: string): Promise<Chosen | undefined> {
  const [pool, venue] = [await findPool(db, key), venues[key]]
  const ready = await transact(db, (tx) => findReady(tx, key))
  const [first] = ready
  if (pool === undefined || venue === undefined || first === undefined) return undefined
  const ids = ready.map(({ id }) => id)
  if (pool.paused !== null) return { ids, problem: `${key} takes no deposits at the moment` }
  const problem = await venue.depositProblem(sumOf(ready))
  if (problem === undefined || ready.length === 1) return { ids, problem }
  return { ids: [first.id], problem: await venue.depositProblem(first.amount) }
}

/** What the treasury has for good. The row alone counts for nothing: the transfer must be claimed for it, and final. */
async function findReady(tx: Tx, key: string): Promise<Deposit[]> {
  const ready: Deposit[] = []
  for (const deposit of await lockInStatus(tx, key, 'received', BATCH)) {
    const transfer = await findTransferFor(tx, purposeOf(deposit))
    if (transfer?.state === 'final' && transfer.due === deposit.amount) ready.push(deposit)
  }
  return ready
}

const sumOf = (deposits: readonly Deposit[]): Usdc =>
  usdc(deposits.reduce((sum, { amount }) => sum + amount, 0n))

async function refundAll(ctx: EarnContext, tx: Tx, deposits: readonly Deposit[], why: string): Promise<void> {
  for (const deposit of deposits) await refundDeposit(ctx, tx, deposit, why)
}

const PROBLEMS = {
  below_first_minimum: 'The first deposit into an empty pool is too small',
  worth_nothing: 'The amount is worth no share of the pool',
  loses_too_much: 'The deposit would lose too much by rounding',
} as const

/** Refunds those that cannot enter the pool, and begins one move with the others. */
async function begin(ctx: EarnContext, tx: Tx, pool: Pool, deposits: readonly Deposit[]): Promise<void> {
  let equity = await equityOf(tx, pool)
  const taken: Deposit[] = []
  for (const deposit of deposits) {
    const problem = mintProblem(deposit.amount, equity)
    if (problem !== undefined) {
      await refundDeposit(ctx, tx, deposit, PROBLEMS[problem])
      continue
    }
    const minted = sharesFor(deposit.amount, equity)
    equity = { micros: equity.micros + deposit.amount, shares: equity.shares + minted }
    taken.push(deposit)
  }
  if (taken.length === 0) return
  const move = await requestDeploy(ctx, tx, pool, sumOf(taken))
  for (const deposit of taken)
    await saveDeposit(tx, deposit, { status: 'deploying', moveId: move.id }, ctx.clock.now())
}

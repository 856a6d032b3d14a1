import { type Tx, transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import { minus, type Usdc, usdc, ZERO } from '@market/kernel/money'
import { balanceOf } from '@market/money/ledger'
import { escrowAccount, findTransferFor, type Transfer } from '@market/money/payments'
import { hasUnspent, minPayoutOn, payoutIdOf, saveSpent } from '@market/money/payouts'
import {
  depositProblem,
  findPool,
  lockPool,
  type MintProblem,
  type MoneyContext,
  type Pool,
} from '../pools/index.ts'
import { requestDeploy } from '../venue-transfers/index.ts'
import { type Deposit, leftOf, partThatFits, purposeOf, SMALLEST_DEPLOY } from './deposit.ts'
import { refundDeposit } from './refund-deposit.ts'
import { insertPart, isDeploying, lockReceived, saveDeposit } from './store.ts'

/** More wait for the next transfer to the venue. */
const BATCH = 100
/** A deposit that no others joined in this time is refunded. */
const LONGEST_WAIT_MS = 30 * DAY

/** Moves the deposits of a pool whose transfers are final to the venue, and refunds those that it cannot take. */
export async function deployDeposits(ctx: MoneyContext, key: string): Promise<void> {
  const chosen = await chooseDeposits(ctx, key)
  if (chosen === undefined) return
  const { ids, problem } = chosen
  await transact(ctx.db, async (tx) => {
    const pool = await lockPool(tx, key)
    if (pool.paused === 'held' || (await isDeploying(tx, key))) return
    const ready = (await findReady(tx, pool)).filter(({ deposit }) => ids.includes(deposit.id))
    if (problem !== undefined) for (const { deposit } of ready) await refundDeposit(ctx, tx, deposit, problem)
    else await begin(ctx, tx, pool, ready)
  })
}

interface Chosen {
  readonly ids: readonly string[]
  /** Why the venue does not take them. */
  readonly problem: string | undefined
}

/** All that are ready; or the first one, when the venue does not take all of them at once. */
async function chooseDeposits(ctx: MoneyContext, key: string): Promise<Chosen | undefined> {
  const { db, venues } = ctx
  const [pool, venue] = [await findPool(db, key), venues[key]]
  // What a recall did is not known: deposits wait until operators have said it.
  if (pool === undefined || venue === undefined || pool.paused === 'held') return undefined
  const ready = (await transact(db, (tx) => findReady(tx, pool))).map(({ deposit }) => deposit)
  const [first] = ready
  if (first === undefined) return undefined
  const ids = ready.map(({ id }) => id)
  if (pool.paused !== null) return { ids, problem: `${key} takes no deposits at the moment` }
  const total = roomFor(ctx, sumOf(ready))
  if (isTooSmall(ctx, pool, total)) return { ids, problem: undefined }
  const problem = await venue.depositProblem(total)
  if (problem === undefined || ready.length === 1) return { ids, problem }
  return { ids: [first.id], problem: await venue.depositProblem(roomFor(ctx, leftOf(first))) }
}

const roomFor = ({ caps }: MoneyContext, amount: Usdc): Usdc =>
  amount < caps.perPayout ? amount : caps.perPayout

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
  const left = leftOf(deposit)
  const purpose = purposeOf(deposit)
  const transfer = await findTransferFor(tx, purpose)
  if (transfer?.state !== 'final' || transfer.network !== network || transfer.due !== deposit.amount)
    return undefined
  const { payer } = transfer
  const isHeld = (await balanceOf(tx, escrowAccount(network, purpose))) >= left
  return payer !== null && isHeld && (await hasUnspent(tx, transfer, left))
    ? { ...transfer, payer }
    : undefined
}

const isTooSmall = (ctx: MoneyContext, { network }: Pool, amount: Usdc): boolean =>
  amount < SMALLEST_DEPLOY || amount < minPayoutOn(ctx, network)

const sumOf = (deposits: readonly Deposit[]): Usdc =>
  usdc(deposits.reduce((sum, deposit) => sum + leftOf(deposit), 0n))

const PROBLEMS: Readonly<Record<MintProblem, string>> = {
  below_first_minimum: 'The first deposit into an empty pool is too small',
  loses_too_much: 'The deposit would lose too much by rounding',
  not_depositable: 'The pool has lost almost everything and takes no deposits',
}

/** Refunds those that cannot enter the pool, and begins one transfer with the others, up to the cap, when they are enough. */
async function begin(ctx: MoneyContext, tx: Tx, pool: Pool, ready: readonly Ready[]): Promise<void> {
  let room = ctx.caps.perPayout
  const taken: { readonly one: Ready; readonly amount: Usdc }[] = []
  for (const one of ready) {
    const problem = depositProblem(leftOf(one.deposit), pool)
    if (problem !== undefined) await refundDeposit(ctx, tx, one.deposit, PROBLEMS[problem])
    else {
      const amount = partThatFits(leftOf(one.deposit), room)
      // A part is rounded by itself: one that is too small is not saved by a large one beside it.
      if (amount <= ZERO || depositProblem(amount, pool) === 'loses_too_much') break
      taken.push({ one, amount })
      room = minus(room, amount)
    }
  }
  const total = minus(ctx.caps.perPayout, room)
  // fix: smallest-move
  if (isTooSmall(ctx, pool, total)) {
    const since = earlier(ctx.clock.now(), LONGEST_WAIT_MS)
    for (const { one } of taken.filter(({ one }) => one.deposit.createdAt < since))
      await refundDeposit(ctx, tx, one.deposit, 'Too few deposits came to move them to the venue')
    return
  }
  const transfer = await requestDeploy(ctx, tx, pool, total)
  const id = payoutIdOf('move_to_venue', transfer.id)
  for (const { one, amount } of taken) {
    const { deposit } = one
    await saveSpent(tx, { id, amount }, one.transfer)
    await insertPart(tx, transfer.id, deposit, amount)
    const moved = usdc(deposit.moved + amount)
    const change = { status: 'deploying', moved, payer: one.transfer.payer } as const
    await saveDeposit(tx, deposit, change, ctx.clock.now())
  }
}

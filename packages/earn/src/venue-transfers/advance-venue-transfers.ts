import { findAttempts } from '@market/core/outgoing'
import type { Venue, VenueReceipt } from '@market/core/ports/venue'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import { nextState } from '@market/kernel/states'
import { balanceOf, postNew, suspense, venue as venueAccount } from '@market/money/ledger'
import { lockTransfer, transferName } from '@market/money/payments'
import { findPayoutOf, isAlive, withdrawPayout } from '@market/money/payouts'
import {
  addVenueShares,
  type EarnContext,
  findPool,
  isCurrent,
  lockPool,
  type Pool,
  revalue,
} from '../pools/index.ts'
import { advanceStep, RETRY_RETURN_MS } from './advance-step.ts'
import { mayUseWallet } from './request-venue-transfer.ts'
import { TRANSITIONS, USES_WALLET, type VenueTransferAction, type VenueTransferState } from './states.ts'
import { findUnended, lockVenueTransfer, saveVenueTransfer } from './store.ts'
import { actionIdOf, type VenueTransfer, venueTransferAccount } from './venue-transfer.ts'

/** Advances every move by one step. Several workers can call it at once. An error of one does not stop the others. */
export async function advanceVenueTransfers(ctx: EarnContext): Promise<void> {
  const moves = await findUnended(ctx.db)
  const done = await Promise.allSettled(moves.map((move) => advanceVenueTransfer(ctx, move)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some venue transfers were not advanced')
}

async function advanceVenueTransfer(ctx: EarnContext, move: VenueTransfer): Promise<void> {
  const venue = ctx.venues[move.poolKey]
  if (venue === undefined) return
  const advance = ADVANCE[move.state]
  await advance?.(ctx, venue, move)
}

type Advance = (ctx: EarnContext, venue: Venue, move: VenueTransfer) => Promise<void>

const ADVANCE: Readonly<Partial<Record<VenueTransferState, Advance>>> = {
  funding: fund,
  approving: approve,
  depositing: deposit,
  returning: returnMoney,
  returned: arrive,
  withdrawing: withdraw,
  withdrawn: arrive,
  held: retry,
}

interface Step {
  readonly change?: Parameters<typeof saveVenueTransfer>[3]
  /** Runs in the same transaction, before the state is saved. */
  readonly post?: (tx: Tx) => Promise<unknown>
}

/** Saves the next state, unless another worker did. A move that waits for the wallet stays as it is while it is used. */
const save = (
  ctx: EarnContext,
  move: VenueTransfer,
  action: VenueTransferAction,
  { change = {}, post }: Step = {},
): Promise<void> =>
  transact(ctx.db, async (tx) => {
    await lockPool(tx, move.poolKey)
    const locked = await lockVenueTransfer(tx, move.id)
    if (locked.state !== move.state) return
    const isWaiting =
      !USES_WALLET.includes(move.state) && USES_WALLET.includes(nextState(TRANSITIONS, move, action))
    if (isWaiting && !(await mayUseWallet(ctx, tx, move))) return
    await post?.(tx)
    await saveVenueTransfer(tx, locked, action, change, ctx.clock.now())
  })

/** Waits for the payout to the wallet. */
async function fund(ctx: EarnContext, venue: Venue, move: VenueTransfer): Promise<void> {
  const payout = await findPayoutOf(ctx.db, 'move_to_venue', move.id)
  assert(payout !== undefined, `${move.id} has a payout`)
  if (payout.state === 'failed') {
    // fix: venue-waits
    if (await transact(ctx.db, (tx) => isAlive(tx, payout.network))) return
    const change = { problem: payout.reason ?? 'The payout to the venue failed' }
    const post = (tx: Tx) =>
      withdrawPayout(ctx, tx, { kind: 'move_to_venue', subject: move.id, to: venueTransferAccount(move) })
    return save(ctx, move, 'fail', { change, post })
  }
  if (payout.state !== 'final') return
  const problem = await venue.depositProblem(move.amount)
  await (problem === undefined
    ? save(ctx, move, 'fund')
    : save(ctx, move, 'take_back', { change: { problem } }))
}

async function approve(ctx: EarnContext, venue: Venue, move: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, move, 'approve')
  if (outcome.kind === 'final') await save(ctx, move, 'approve')
  if (outcome.kind === 'failed')
    await save(ctx, move, 'take_back', { change: { problem: 'The vault was not approved' } })
}

async function deposit(ctx: EarnContext, venue: Venue, move: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, move, 'deposit')
  if (outcome.kind === 'failed')
    await save(ctx, move, 'take_back', {
      change: { problem: `The venue rejected the deposit: ${outcome.reason}` },
    })
  if (outcome.kind !== 'final') return
  const { reference } = outcome
  const receipt = await readReceipt(ctx, venue, move, reference)
  if (receipt === undefined) return
  const { assets, shares } = receipt
  await save(ctx, move, 'finish', { change: { venueShares: shares, assets, reference } })
}

/** What the receipt says. A move whose receipt contradicts itself is held, so that other pools can use the wallet. */
async function readReceipt(
  ctx: EarnContext,
  venue: Venue,
  move: VenueTransfer,
  reference: string,
): Promise<VenueReceipt | undefined> {
  try {
    const receipt = await venue.receiptOf(reference)
    assert(receipt.assets === move.amount, `${move.id} moved ${receipt.assets} of ${move.amount}`)
    return receipt
  } catch (error) {
    // A node that cannot be reached says nothing about the receipt.
    if (error instanceof ApiError) throw error
    const problem = `The receipt of ${reference} is not what was asked for: ${(error as Error).message}`
    await save(ctx, move, 'hold', { change: { problem } })
    throw new Error(`${move.id} is held`, { cause: error })
  }
}

async function returnMoney(ctx: EarnContext, venue: Venue, move: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, move, 'return')
  if (outcome.kind === 'final') await save(ctx, move, 'return', { change: { reference: outcome.reference } })
  if (outcome.kind === 'failed')
    await save(ctx, move, 'hold', {
      change: { problem: `The money could not be returned: ${outcome.reason}` },
    })
}

/** Only a return is tried again. What else is held waits for an operator. */
async function retry(ctx: EarnContext, _venue: Venue, move: VenueTransfer): Promise<void> {
  if ((await findAttempts(ctx.db, actionIdOf(move, 'return'))).length === 0) return
  if (ctx.clock.now().getTime() - move.updatedAt.getTime() > RETRY_RETURN_MS) await save(ctx, move, 'retry')
}

async function withdraw(ctx: EarnContext, venue: Venue, move: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, move, 'withdraw')
  if (outcome.kind === 'failed')
    await save(ctx, move, 'fail', { change: { problem: `The venue did not pay out: ${outcome.reason}` } })
  if (outcome.kind !== 'final') return
  const { reference } = outcome
  const receipt = await readReceipt(ctx, venue, move, reference)
  if (receipt === undefined) return
  const pool = await findPool(ctx.db, move.poolKey)
  assert(pool !== undefined, `${move.poolKey} is a pool`)
  // Somebody else may have given the wallet shares, of which a withdrawal after a loss takes some too.
  const ours = receipt.shares < pool.venueShares ? receipt.shares : pool.venueShares
  const left = pool.venueShares - ours
  const at = ctx.clock.now()
  const [value] = await venue.valuesOf([left])
  assert(value !== undefined, 'the venue values what it is asked for')
  await transact(ctx.db, async (tx) => {
    const lockedPool = await lockPool(tx, move.poolKey)
    const locked = await lockVenueTransfer(tx, move.id)
    if (locked.state !== move.state) return
    // Something else changed the pool: the next sweep reads again.
    if (!isCurrent(lockedPool, { shares: pool.venueShares, at }, ctx.clock.now())) return
    await recordRecall(ctx, tx, lockedPool, move, { ...receipt, shares: ours })
    // At once, because what came can be worth more or less than the ledger had for it.
    await revalue(ctx, tx, lockedPool, value)
    const change = { venueShares: receipt.shares, assets: receipt.assets, reference }
    await saveVenueTransfer(tx, locked, 'withdraw', change, ctx.clock.now())
  })
}

/** The vault's shares are gone, and what it paid for them is on its way to the treasury. */
async function recordRecall(
  ctx: EarnContext,
  tx: Tx,
  { key, network }: Pool,
  move: VenueTransfer,
  { assets, shares }: VenueReceipt,
): Promise<void> {
  await addVenueShares(tx, key, -shares)
  await postNew(ctx, tx, {
    key: `earn.recalled:${move.id}`,
    reason: 'earn.recalled',
    subject: move.id,
    network,
    moves: [{ from: venueTransferAccount(move), to: venueAccount(network, key), amount: assets }],
  })
}

/** What came from the wallet or the vault belongs to the pool: from suspense to the move, which ends. */
async function arrive(ctx: EarnContext, _venue: Venue, move: VenueTransfer): Promise<void> {
  const { network, reference, kind } = move
  assert(reference !== null, `${move.id} has a transaction`)
  await transact(ctx.db, async (tx) => {
    const key = { network, reference, index: 0 }
    const transfer = await lockTransfer(tx, key)
    if (transfer?.state !== 'final' || transfer.purpose !== null) return
    const from = suspense(network, transferName(key))
    const due = -(await balanceOf(tx, venueTransferAccount(move)))
    const amount: Usdc = usdc(due > 0n ? due : 0n)
    const locked = await lockVenueTransfer(tx, move.id)
    if (locked.state !== move.state || (await balanceOf(tx, from)) < amount) return
    await postNew(ctx, tx, {
      key: `earn.arrived:${move.id}`,
      reason: 'earn.arrived',
      subject: move.id,
      network,
      moves: [{ from, to: venueTransferAccount(move), amount }],
    })
    await saveVenueTransfer(tx, locked, kind === 'deploy' ? 'fail' : 'finish', {}, ctx.clock.now())
  })
}

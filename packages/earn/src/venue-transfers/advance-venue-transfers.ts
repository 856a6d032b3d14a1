import { findAttempts } from '@market/core/outgoing'
import type { Venue, VenueReceipt } from '@market/core/ports/venue'
import { type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import { nextState } from '@market/kernel/states'
import { balanceOf, postNew, suspense } from '@market/money/ledger'
import { lockTransfer, transferName } from '@market/money/payments'
import { findPayoutOf, isAlive, withdrawPayout } from '@market/money/payouts'
import { type EarnContext, lockPool, savePause } from '../pools/index.ts'
import { findAccepted } from './accept-venue-transfer.ts'
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
  withdrawing: redeem,
  held: decide,
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
  const problem = await venue.depositProblem(payout.amount)
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

/** What the receipt says. A transfer whose receipt is not understood is held: it is never repeated. */
async function readReceipt(
  ctx: EarnContext,
  venue: Venue,
  move: VenueTransfer,
  reference: string,
): Promise<VenueReceipt | undefined> {
  try {
    const receipt = await venue.receiptOf(reference)
    const [moved, asked] =
      move.kind === 'deploy' ? [receipt.assets, move.amount] : [receipt.shares, move.askedShares]
    assert(moved === asked, `${move.id} moved ${moved} of ${asked}`)
    return receipt
  } catch (error) {
    // A node that cannot be reached says nothing about the receipt.
    if (error instanceof ApiError) throw error
    const problem = `The receipt of ${reference} is not what was asked for: ${(error as Error).message}`
    const isRecall = move.kind === 'recall'
    await save(ctx, move, 'hold', {
      change: { problem, reference },
      // What the pool has is not known any more. Other pools go on.
      ...(isRecall && { post: (tx) => savePause(tx, move.poolKey, 'held') }),
    })
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

/** Two operators say what really moved. Only a return is tried again. */
async function decide(ctx: EarnContext, _venue: Venue, move: VenueTransfer): Promise<void> {
  const accepted = await findAccepted(ctx.db, move.id)
  if (accepted !== undefined)
    return save(ctx, move, move.kind === 'deploy' ? 'accept_deposit' : 'accept_recall', {
      change: accepted,
      // The next reading decides whether there is another reason.
      ...(move.kind === 'recall' && { post: (tx) => savePause(tx, move.poolKey, null) }),
    })
  if ((await findAttempts(ctx.db, actionIdOf(move, 'return'))).length === 0) return
  if (ctx.clock.now().getTime() - move.updatedAt.getTime() > RETRY_RETURN_MS) await save(ctx, move, 'retry')
}

/** A recall that reverted changes nothing. Otherwise the withdrawals that it redeems for are paid by its receipt. */
async function redeem(ctx: EarnContext, venue: Venue, move: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, move, 'redeem')
  if (outcome.kind === 'failed')
    await save(ctx, move, 'fail', { change: { problem: `The venue did not pay out: ${outcome.reason}` } })
  if (outcome.kind !== 'final') return
  const { reference } = outcome
  const receipt = await readReceipt(ctx, venue, move, reference)
  if (receipt === undefined) return
  const { shares: venueShares, assets } = receipt
  await save(ctx, move, 'withdraw', { change: { venueShares, assets, reference } })
}

/** What came back from the wallet belongs to the deposits again: from suspense to the transfer, which ends. */
async function arrive(ctx: EarnContext, _venue: Venue, move: VenueTransfer): Promise<void> {
  const { network, reference } = move
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
    await saveVenueTransfer(tx, locked, 'fail', {}, ctx.clock.now())
  })
}

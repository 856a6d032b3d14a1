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
import {
  type EarnContext,
  findPool,
  isConfiguredAs,
  isCurrent,
  lockPool,
  readVenue,
  savePause,
} from '../pools/index.ts'
import { findAccepted } from './accept-venue-transfer.ts'
import { type Accepted, acceptedProblem } from './accepted.ts'
import { advanceStep, RETRY_RETURN_MS } from './advance-step.ts'
import { mayUseWallet } from './request-venue-transfer.ts'
import { TRANSITIONS, USES_WALLET, type VenueTransferAction, type VenueTransferState } from './states.ts'
import {
  findLastDeploys,
  findUnended,
  isBeingRecalled,
  lockVenueTransfer,
  saveVenueTransfer,
} from './store.ts'
import { actionIdOf, type VenueTransfer, venueTransferAccount } from './venue-transfer.ts'

/** Advances every venue transfer by one step. Several workers can call it at once. An error of one does not stop the others. */
export async function advanceVenueTransfers(ctx: EarnContext): Promise<void> {
  const transfers = await findUnended(ctx.db)
  const done = await Promise.allSettled(transfers.map((transfer) => advanceVenueTransfer(ctx, transfer)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some venue transfers were not advanced')
}

async function advanceVenueTransfer(ctx: EarnContext, transfer: VenueTransfer): Promise<void> {
  const venue = ctx.venues[transfer.poolKey]
  if (venue === undefined) return
  const advance = ADVANCE[transfer.state]
  await advance?.(ctx, venue, transfer)
}

type Advance = (ctx: EarnContext, venue: Venue, transfer: VenueTransfer) => Promise<void>

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

/** Saves the next state, unless another worker did. A venue transfer that waits for the wallet stays as it is meanwhile. */
const save = (
  ctx: EarnContext,
  transfer: VenueTransfer,
  action: VenueTransferAction,
  { change = {}, post }: Step = {},
): Promise<void> =>
  transact(ctx.db, async (tx) => {
    await lockPool(tx, transfer.poolKey)
    const locked = await lockVenueTransfer(tx, transfer.id)
    if (locked.state !== transfer.state) return
    const isWaiting =
      !USES_WALLET.includes(transfer.state) && USES_WALLET.includes(nextState(TRANSITIONS, transfer, action))
    if (isWaiting && !(await mayUseWallet(ctx, tx, transfer))) return
    await post?.(tx)
    await saveVenueTransfer(tx, locked, action, change, ctx.clock.now())
  })

/** Waits for the payout to the wallet. */
async function fund(ctx: EarnContext, venue: Venue, transfer: VenueTransfer): Promise<void> {
  const payout = await findPayoutOf(ctx.db, 'move_to_venue', transfer.id)
  assert(payout !== undefined, `${transfer.id} has a payout`)
  if (payout.state === 'failed') {
    // fix: venue-waits
    if (await transact(ctx.db, (tx) => isAlive(tx, payout.network))) return
    const change = { problem: payout.reason ?? 'The payout to the venue failed' }
    const post = (tx: Tx) =>
      withdrawPayout(ctx, tx, {
        kind: 'move_to_venue',
        subject: transfer.id,
        to: venueTransferAccount(transfer),
      })
    return save(ctx, transfer, 'fail', { change, post })
  }
  if (payout.state !== 'final') return
  const problem = await venue.depositProblem(payout.amount)
  await (problem === undefined
    ? save(ctx, transfer, 'fund')
    : save(ctx, transfer, 'take_back', { change: { problem } }))
}

async function approve(ctx: EarnContext, venue: Venue, transfer: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, transfer, 'approve')
  if (outcome.kind === 'final') await save(ctx, transfer, 'approve')
  if (outcome.kind === 'failed')
    await save(ctx, transfer, 'take_back', { change: { problem: 'The vault was not approved' } })
}

async function deposit(ctx: EarnContext, venue: Venue, transfer: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, transfer, 'deposit')
  if (outcome.kind === 'failed')
    await save(ctx, transfer, 'take_back', {
      change: { problem: `The venue rejected the deposit: ${outcome.reason}` },
    })
  if (outcome.kind !== 'final') return
  const { reference } = outcome
  const receipt = await readReceipt(ctx, venue, transfer, reference)
  if (receipt === undefined) return
  const { assets, shares } = receipt
  await save(ctx, transfer, 'finish', { change: { venueShares: shares, assets, reference } })
}

/** What the receipt says. A transfer whose receipt is not understood is held: it is never repeated. */
async function readReceipt(
  ctx: EarnContext,
  venue: Venue,
  transfer: VenueTransfer,
  reference: string,
): Promise<VenueReceipt | undefined> {
  try {
    const receipt = await venue.receiptOf(reference)
    const [moved, asked] =
      transfer.kind === 'deploy' ? [receipt.assets, transfer.amount] : [receipt.shares, transfer.askedShares]
    assert(moved === asked, `${transfer.id} moved ${moved} of ${asked}`)
    return receipt
  } catch (error) {
    // A node that cannot be reached says nothing about the receipt.
    if (error instanceof ApiError) throw error
    const problem = `The receipt of ${reference} is not what was asked for: ${(error as Error).message}`
    const isRecall = transfer.kind === 'recall'
    await save(ctx, transfer, 'hold', {
      change: { problem, reference },
      // What the pool has is not known any more. Other pools go on.
      ...(isRecall && { post: (tx) => savePause(tx, transfer.poolKey, 'held') }),
    })
    throw new Error(`${transfer.id} is held`, { cause: error })
  }
}

async function returnMoney(ctx: EarnContext, venue: Venue, transfer: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, transfer, 'return')
  if (outcome.kind === 'final')
    await save(ctx, transfer, 'return', { change: { reference: outcome.reference } })
  if (outcome.kind === 'failed')
    await save(ctx, transfer, 'hold', {
      change: { problem: `The money could not be returned: ${outcome.reason}` },
    })
}

/** Two operators say what a receipt really moved. Only a return, which has none, is tried again. */
async function decide(ctx: EarnContext, venue: Venue, transfer: VenueTransfer): Promise<void> {
  const { reference } = transfer
  if (reference !== null) {
    const accepted = await findAccepted(ctx.db, transfer.id)
    return accepted && takeAccepted(ctx, venue, { ...transfer, reference }, accepted)
  }
  if ((await findAttempts(ctx.db, actionIdOf(transfer, 'return'))).length === 0) return
  if (ctx.clock.now().getTime() - transfer.updatedAt.getTime() > RETRY_RETURN_MS)
    await save(ctx, transfer, 'retry')
}

/** Takes what operators accepted, unless wallet or chain contradict it: then the transfer stays held until they accept something else. */
async function takeAccepted(
  ctx: EarnContext,
  venue: Venue,
  transfer: VenueTransfer & { readonly reference: string },
  accepted: Accepted,
): Promise<void> {
  const { id, kind, poolKey, reference } = transfer
  const pool = await findPool(ctx.db, poolKey)
  if (pool === undefined || !isConfiguredAs(pool, venue)) return
  const moved = await venue.movedBy(reference)
  const reading = await readVenue(ctx, venue, pool)
  await transact(ctx.db, async (tx) => {
    const locked = await lockPool(tx, poolKey)
    const own = await lockVenueTransfer(tx, id)
    if (own.state !== 'held' || !isCurrent(locked, reading, ctx.clock.now())) return
    // What a recall takes from the wallet must be known before what a deploy brought.
    if (kind === 'deploy' && (await isBeingRecalled(tx, poolKey))) return
    const known = locked.venueShares + (await sumUnminted(tx, poolKey))
    // fix: accepted-by-wallet
    const problem = acceptedProblem(own, accepted, { held: reading.held, known, moved })
    if (problem !== undefined) throw new Error(`${id} stays held: ${problem}`)
    // The next reading decides whether there is another reason.
    if (kind === 'recall') await savePause(tx, poolKey, null)
    const action = kind === 'deploy' ? 'accept_deposit' : 'accept_recall'
    await saveVenueTransfer(tx, own, action, accepted, ctx.clock.now())
  })
}

/** The vault's shares that a finished deploy brought and that are not the pool's yet: its deposits get shares for them. */
async function sumUnminted(tx: Tx, poolKey: string): Promise<bigint> {
  let sum = 0n
  for (const deploy of await findLastDeploys(tx, poolKey))
    if ((await balanceOf(tx, venueTransferAccount(deploy))) !== 0n) sum += deploy.venueShares ?? 0n
  return sum
}

/** A recall that reverted changes nothing. Otherwise the withdrawals that it redeems for are paid by its receipt. */
async function redeem(ctx: EarnContext, venue: Venue, transfer: VenueTransfer): Promise<void> {
  const outcome = await advanceStep(ctx, venue, transfer, 'redeem')
  if (outcome.kind === 'failed')
    await save(ctx, transfer, 'fail', { change: { problem: `The venue did not pay out: ${outcome.reason}` } })
  if (outcome.kind !== 'final') return
  const { reference } = outcome
  const receipt = await readReceipt(ctx, venue, transfer, reference)
  if (receipt === undefined) return
  const { shares: venueShares, assets } = receipt
  await save(ctx, transfer, 'withdraw', { change: { venueShares, assets, reference } })
}

/** What came back from the wallet belongs to the deposits again: from suspense to the venue transfer, which ends. */
async function arrive(ctx: EarnContext, _venue: Venue, transfer: VenueTransfer): Promise<void> {
  const { network, reference } = transfer
  assert(reference !== null, `${transfer.id} has a transaction`)
  await transact(ctx.db, async (tx) => {
    const key = { network, reference, index: 0 }
    const arrived = await lockTransfer(tx, key)
    if (arrived?.state !== 'final' || arrived.purpose !== null) return
    const from = suspense(network, transferName(key))
    const due = -(await balanceOf(tx, venueTransferAccount(transfer)))
    const amount: Usdc = usdc(due > 0n ? due : 0n)
    const locked = await lockVenueTransfer(tx, transfer.id)
    if (locked.state !== transfer.state || (await balanceOf(tx, from)) < amount) return
    await postNew(ctx, tx, {
      key: `earn.arrived:${transfer.id}`,
      reason: 'earn.arrived',
      subject: transfer.id,
      network,
      moves: [{ from, to: venueTransferAccount(transfer), amount }],
    })
    await saveVenueTransfer(tx, locked, 'fail', {}, ctx.clock.now())
  })
}

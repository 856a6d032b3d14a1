import type { Needs } from '@market/core/context'
import type { Db, Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, payable, post } from '../ledger/index.ts'
import type { Purpose } from '../payments/index.ts'
import { contestHold, describeHold } from './hold.ts'
import {
  isWaiting,
  type Payout,
  type PayoutId,
  type PayoutKind,
  payoutIdOf,
  type Unmatched,
} from './payout.ts'
import { findPayout, insertPayout, lockPayout, saveHold, savePayout, saveWait, startRound } from './store.ts'

export interface NewPayout {
  readonly network: Network
  readonly kind: PayoutKind
  readonly subject: string
  /** Null while no address is known: the money is reserved all the same. */
  readonly payee: string | null
  readonly amount: Usdc
  readonly from: Account
  /** The payment that funds it, which must be final before the payout is sent. */
  readonly purpose?: Purpose
  /** What it returns without a purpose. */
  readonly unmatched?: Unmatched
  /** The agent whose statement shows it. */
  readonly agentId?: AgentId
  /** It is not sent earlier, because its payer can contest it until then. */
  readonly notBefore?: Date | undefined
  /** Since when it is contested: it is not sent until that is decided. */
  readonly contestedAt?: Date | undefined
  /** Whether that agent receives an event when the payout ends. */
  readonly notifyAgent?: boolean
}

/**
 * Reserves the money and stores the payout, in the transaction of the command that requests it. A second request for the
 * same subject returns the same payout. Without a payee the payout has failed at once.
 */
export async function requestPayout(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  request: NewPayout,
): Promise<Payout> {
  const { network, kind, subject, payee, amount, notBefore = null, contestedAt = null } = request
  const now = ctx.clock.now()
  const id = payoutIdOf(kind, subject)
  const inserted = await insertPayout(tx, notBefore ?? now, {
    id,
    network,
    kind,
    subject,
    purpose: request.purpose ?? null,
    unmatched: request.unmatched ?? null,
    payee,
    amount,
    state: payee === null ? 'failed' : 'queued',
    holdCode: payee === null ? 'no_address' : null,
    holdDetail: null,
    reason: payee === null ? describeHold({ code: 'no_address' }) : null,
    round: 1,
    markRound: 1,
    finalReference: null,
    agentId: earnerOf(request),
    approvalId: null,
    countedAt: null,
    countsAgainstCaps: true,
    opensAccount: false,
    notifiedAgent: request.notifyAgent === true ? (request.agentId ?? null) : null,
    notBefore,
    contestedAt,
    createdAt: now,
    updatedAt: now,
  })
  const payout = inserted ?? (await requestWithdrawn(ctx, tx, request))
  if (payout === undefined) return lockPayout(tx, id)
  await post(ctx, tx, {
    key: `payout.requested:${id}${payout.round === 1 ? '' : `:${payout.round}`}`,
    reason: `${kind}.requested`,
    subject,
    network,
    moves: [{ from: request.from, to: payable(network, id), amount }],
    ...(request.agentId !== undefined && { agentId: request.agentId }),
  })
  // fix: contest-window-shown
  const hold = isWaiting(payout) ? contestHold(payout, now) : undefined
  return hold === undefined ? payout : saveHold(tx, payout, hold, now)
}

const earnerOf = ({ kind, agentId }: Pick<NewPayout, 'kind' | 'agentId'>): AgentId | null =>
  kind === 'payout' ? (agentId ?? null) : null

/** Requests a withdrawn payout again, perhaps with another amount or network. Undefined when it was not withdrawn. */
async function requestWithdrawn(
  ctx: Needs<'clock'>,
  tx: Tx,
  { kind, subject, network, amount, payee, ...request }: NewPayout,
): Promise<Payout | undefined> {
  const known = await lockPayout(tx, payoutIdOf(kind, subject))
  if (known.state !== 'withdrawn') {
    const isSame = known.amount === amount && known.network === network
    assert(isSame, `${kind} of ${subject} was requested with another amount or network`)
    return undefined
  }
  const { notBefore = null, contestedAt = null } = request
  const change = { payee, amount, network, notBefore, contestedAt, agentId: earnerOf({ ...request, kind }) }
  const action = payee === null ? 'request_without_address' : 'request'
  return startRound(tx, known, action, ctx.clock.now(), change)
}

/** The payout of this kind that was requested for a subject, if any. */
export const findPayoutOf = (db: Db | Tx, kind: PayoutKind, subject: string): Promise<Payout | undefined> =>
  findPayout(db, payoutIdOf(kind, subject))

/**
 * Retries a failed payout, to the same payee or to another one. None of its signatures can take effect any more, so it
 * starts from the beginning. The caller authorizes and audits the retry.
 */
export async function retryPayout(
  ctx: Needs<'clock'>,
  tx: Tx,
  id: PayoutId,
  change: { payee?: string } = {},
): Promise<Payout> {
  if ((await findPayout(tx, id)) === undefined) throw new ApiError('not_found', `There is no payout ${id}.`)
  const payout = await lockPayout(tx, id)
  if (payout.state !== 'failed')
    throw new ApiError('conflict', `Payout ${id} is ${payout.state}. Only a failed payout can be retried.`)
  if (payout.payee === null && change.payee === undefined)
    throw new ApiError('unprocessable', `Payout ${id} has no address to be paid to. Set payee.`)
  return startRound(tx, payout, 'retry', ctx.clock.now(), change)
}

/** Whether a payout can still be stopped: it does not exist, was withdrawn, or was not authorized. */
export async function isStoppable(tx: Tx, kind: PayoutKind, subject: string): Promise<boolean> {
  const id = payoutIdOf(kind, subject)
  if ((await findPayout(tx, id)) === undefined) return true
  return isStoppablePayout(await lockPayout(tx, id))
}

/** The same of a payout that was read. */
export const isStoppablePayout = (payout: Payout | undefined): boolean =>
  payout === undefined || isWaiting(payout) || payout.state === 'failed' || payout.state === 'withdrawn'

/** Holds the agent's payout of a subject until the contest about its payment is decided. */
export async function contestPayout(ctx: Needs<'clock'>, tx: Tx, subject: string, at: Date): Promise<void> {
  const payout = await lockPayout(tx, payoutIdOf('payout', subject))
  assert(isWaiting(payout) || payout.state === 'failed', `${payout.id} was not authorized`)
  const { id, notBefore } = payout
  const now = ctx.clock.now()
  await saveWait(tx, id, { notBefore, contestedAt: at }, now)
  const hold = contestHold({ notBefore, contestedAt: at }, now)
  if (hold !== undefined && isWaiting(payout)) await saveHold(tx, payout, hold, now)
}

/** The payer is proven, or an arbiter decided: the payout of a subject, if there is one, waits no longer for it. */
export async function endContestWait(ctx: Needs<'clock'>, tx: Tx, subject: string): Promise<void> {
  const id = payoutIdOf('payout', subject)
  if ((await findPayout(tx, id)) === undefined) return
  const payout = await lockPayout(tx, id)
  if (!isWaiting(payout) && payout.state !== 'failed') return
  await saveWait(tx, id, { notBefore: null, contestedAt: null }, ctx.clock.now())
}

const PAYMENT_REVERSED = 'The payment that funds it was reversed'

/**
 * Withdraws a payout whose payment was reversed by the chain. A payout is authorized only when its payment is final, so
 * nothing of this one was sent; the reserved money goes back to the account it came from.
 */
export async function withdrawPayout(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { kind, subject, to }: { kind: PayoutKind; subject: string; to: Account },
): Promise<void> {
  const id = payoutIdOf(kind, subject)
  if ((await findPayout(tx, id)) === undefined) return
  const payout = await lockPayout(tx, id)
  if (payout.state === 'withdrawn') return
  assert(isWaiting(payout) || payout.state === 'failed', `${id} was not authorized`)
  const { network, amount, round } = payout
  await savePayout(tx, payout, 'withdraw', { reason: PAYMENT_REVERSED }, ctx.clock.now())
  await post(ctx, tx, {
    key: `payout.withdrawn:${id}:${round}`,
    reason: `${kind}.withdrawn`,
    subject,
    network,
    moves: [{ from: payable(network, id), to, amount }],
  })
}

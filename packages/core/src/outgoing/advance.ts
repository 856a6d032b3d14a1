import { currentEpoch } from '@market/database/epoch'
import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { MINUTE } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import { NONCE_USED_BY_ANOTHER } from '../ports/payout-sender.ts'
import type { Rail } from '../ports/transactions.ts'
import type { Action, Attempt, Known, Progress, Rules } from './action.ts'
import { compare } from './compare.ts'
import { findAttempts, insertAttempt, isEpoch, lockAction } from './store.ts'

/** A transaction that is not mined for this long is replaced by one with higher fees, at the same nonce. */
const STUCK_MS = 1 * MINUTE

/** What one call of `advance` works with. */
interface Work<R> {
  readonly ctx: Needs<'db' | 'clock'>
  readonly rail: Rail
  readonly action: Action
  readonly rules: Rules<R>
  readonly attempts: readonly Attempt[]
  readonly epoch: string
}

const UNDER_WAY = { kind: 'under_way' } as const

/**
 * Does the next step of an action: observes what was signed, sends it again, or signs. Nothing is signed before the account was
 * compared with its chain in this database epoch. Safe at any time, by any number of workers.
 */
export async function advance<R>(
  ctx: Needs<'db' | 'clock'>,
  rail: Rail,
  action: Action,
  rules: Rules<R>,
): Promise<Progress<R>> {
  const epoch = await currentEpoch(ctx.db)
  const attempts = await findAttempts(ctx.db, action.id)
  const work = { ctx, rail, action, rules, attempts, epoch }
  const newest = attempts.at(-1)
  if (newest === undefined) return sign(work)
  const outcome = await rail.observe(roundOf(work, newest))
  switch (outcome.kind) {
    case 'final':
      return { kind: 'final', reference: outcome.reference, account: accountOf(work, outcome.reference) }
    case 'seen':
      return UNDER_WAY
    case 'failed':
      if (outcome.reason === NONCE_USED_BY_ANOTHER) return sign(work, { usedNonce: newest.nonce })
      if (rules.mayRepeat?.(newest)) return sign(work)
      return { kind: 'failed', reason: outcome.reason, known: knownOf(work) }
    case 'expired':
      if (attempts.length >= (rules.maxAttempts ?? Number.POSITIVE_INFINITY))
        return { kind: 'expired', known: knownOf(work) }
      return sign(work)
    case 'unknown':
      return sendAgain(work, newest)
  }
}

/** Another key may have signed the newest attempt. */
function accountOf<R>({ attempts }: Work<R>, reference: string): string {
  const executed = attempts.find((one) => one.reference === reference)
  assert(executed !== undefined, `${reference} is an attempt of the action`)
  return executed.account
}

/** The attempts that exclude each other: those with the nonce of the newest. Where transactions expire, all of them. */
const roundOf = <R>({ attempts }: Work<R>, newest: Attempt): Attempt[] =>
  attempts.filter(({ nonce }) => nonce === newest.nonce)

/** Sends the same bytes again, and replaces them when their nonce is the next one and was not mined for long. */
async function sendAgain<R>(work: Work<R>, newest: Attempt): Promise<Progress<R>> {
  const { ctx, rail, action, rules } = work
  if (newest.bytes === '' || (await rules.isStopped())) return UNDER_WAY
  // Only the chain tells whether it took effect, so an error of the nodes is not one of the action.
  await rail.send(newest).catch(() => undefined)
  const isYoung = ctx.clock.now().getTime() - newest.createdAt.getTime() <= STUCK_MS
  if (rail.lock === 'expiry' || isYoung) return UNDER_WAY
  const { mined } = await rail.counts(action.account)
  return mined === newest.nonce ? sign(work, { replaced: roundOf(work, newest) }) : UNDER_WAY
}

interface Following {
  /** The new transaction has the nonce of these and must outbid them. */
  readonly replaced?: readonly Attempt[]
  /** The nonce of the newest attempt, when another transaction took it. */
  readonly usedNonce?: bigint | null
}

const knownOf = <R>({ attempts, epoch }: Work<R>): Known => ({ attempts: attempts.length, epoch })

/**
 * Signs, stores the bytes, and only then sends them. If two workers sign at once, one stores its bytes first and the other's
 * are never sent. What was lost is looked for even while nothing may be signed.
 */
async function sign<R>(
  work: Work<R>,
  { replaced = [], usedNonce = null }: Following = {},
): Promise<Progress<R>> {
  const { ctx, rail, action, rules, attempts, epoch } = work
  // A replacement excludes what it replaces, whatever the database lost.
  const compared =
    replaced[0] === undefined
      ? await compare(ctx, rail, action, rules, { epoch, usedNonce })
      : { isOver: true, nonce: replaced[0].nonce }
  // fix: outgoing-compared
  if (!compared.isOver) return { kind: 'not_compared' }
  if (await rules.isStopped()) return { kind: 'stopped', known: knownOf(work) }
  const n = attempts.length + 1
  const signed = await rules.sign({ n, nonce: compared.nonce, replaced })
  if ('refused' in signed) return { kind: 'refused', reason: signed.refused, known: knownOf(work) }
  const { transaction } = signed
  const authorized = await transact(ctx.db, async (tx) => {
    if (!(await isStill(tx, action.id, knownOf(work)))) return false
    const answer = await signed.authorize(tx)
    if (answer === true)
      await insertAttempt(tx, action, rail.network, { ...transaction, n, createdAt: ctx.clock.now() })
    return answer
  })
  if (typeof authorized !== 'boolean')
    return { kind: 'refused', reason: authorized.refused, known: knownOf(work) }
  if (authorized) await rail.send(transaction).catch(() => undefined)
  return UNDER_WAY
}

/**
 * Whether no other worker signed meanwhile, and the database is still the one whose account was compared. Until the commit nobody
 * signs for the action.
 */
export async function isStill(tx: Tx, actionId: string, { attempts, epoch }: Known): Promise<boolean> {
  await lockAction(tx, actionId)
  return (await isEpoch(tx, epoch)) && (await findAttempts(tx, actionId)).length === attempts
}

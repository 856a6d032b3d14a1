import { transact } from '@market/database/transact'
import { DAY, earlier } from '@market/kernel/clock'
import type { Needs } from '../context.ts'
import type { ExpiringRail, NamedTransaction, NonceRail, Rail } from '../ports/transactions.ts'
import type { Action, Rules } from './action.ts'
import {
  findComparedNonces,
  findHorizon,
  findNextNonce,
  insertFound,
  insertHorizon,
  isEpoch,
  lockNonces,
  saveComparedNonces,
} from './store.ts'

type Ctx = Needs<'db' | 'clock'>

interface Moment {
  readonly epoch: string
  /** The nonce that the action had, when another transaction took it. */
  readonly usedNonce: bigint | null
}

export interface Compared {
  /** Whether everything that an earlier database epoch may have signed for the action is over and recorded. */
  readonly isOver: boolean
  /** The nonce of the account's next transaction; null where transactions expire. */
  readonly nonce: bigint | null
}

const NOT_OVER: Compared = { isOver: false, nonce: null }

/**
 * Compares an account with its chain. A database that was restored or promoted may have lost its last transactions, which are on
 * the chain or on their way there.
 */
export const compare = <R>(
  ctx: Ctx,
  rail: Rail,
  action: Action,
  rules: Rules<R>,
  moment: Moment,
): Promise<Compared> =>
  rail.lock === 'expiry'
    ? compareByName(ctx, rail, action, moment)
    : compareByNonce(ctx, rail, action, rules, moment)

/** How much of an account nodes must know. What is older is not signed again. */
export const SEARCHED_MS = 7 * DAY

/** What was lost has expired once the horizon of the epoch is final. Then the chain shows it, or it never was executed. */
async function compareByName(
  ctx: Ctx,
  rail: ExpiringRail,
  action: Action,
  { epoch }: Moment,
): Promise<Compared> {
  const over: Compared = { isOver: true, nonce: null }
  if (rail.find === undefined || action.key?.epoch === epoch) return over
  const horizon = await horizonOf(ctx, rail, epoch)
  if ((await rail.finalHeight()) <= horizon) return NOT_OVER
  const weekAgo = earlier(ctx.clock.now(), SEARCHED_MS)
  const since = action.key !== undefined && action.key.madeAt > weekAgo ? action.key.madeAt : weekAgo
  const reference = await rail.find(action.account, action.id, since)
  if (reference === undefined) return over
  const found = { reference, nonce: null, lastValidHeight: horizon }
  await transact(ctx.db, async (tx) => {
    if (await isEpoch(tx, epoch)) await insertFound(tx, action, rail.network, found, ctx.clock.now())
  })
  return NOT_OVER
}

async function horizonOf(ctx: Ctx, rail: ExpiringRail, epoch: string): Promise<bigint> {
  const known = await findHorizon(ctx.db, rail.network, epoch)
  if (known !== undefined) return known
  const horizon = await rail.horizon()
  return transact(ctx.db, (tx) => insertHorizon(tx, rail.network, epoch, horizon))
}

/** How far back an account is read: a day of blocks every two seconds. What was lost before is only counted. */
const READ_BLOCKS = 43_200n

/** Whether the database knows every transaction that an account has sent. One that lost some does not know what the account has. */
export async function knowsAllSent({ db }: Needs<'db'>, rail: NonceRail, account: string): Promise<boolean> {
  const { mined } = await rail.counts(account)
  const place = { network: rail.network, account }
  return mined <= larger(await findComparedNonces(db, place), await findNextNonce(db, place))
}

/**
 * The account does one thing at a time, so what it sends next has the nonce after the last one that the database knows, and as many
 * transactions are mined. With more of them the database lost some; with fewer a transaction is not mined, or the nodes are behind.
 */
async function compareByNonce<R>(
  ctx: Ctx,
  rail: NonceRail,
  action: Action,
  rules: Rules<R>,
  { epoch, usedNonce }: Moment,
): Promise<Compared> {
  const { final, mined, height } = await rail.counts(action.account)
  const place = { network: rail.network, account: action.account }
  const compared = await findComparedNonces(ctx.db, place)
  const next = larger(compared, await findNextNonce(ctx.db, place))
  const isTaken = usedNonce !== null && usedNonce >= compared
  if (mined <= next && !isTaken)
    return {
      // fix: nonce-is-mined
      isOver: mined === next,
      nonce: next,
    }
  if (final < mined) return NOT_OVER
  const from = height > READ_BLOCKS ? height - READ_BLOCKS : 0n
  const sent = await rail.sentBetween(action.account, from, height)
  await transact(ctx.db, async (tx) => {
    const known = await lockNonces(tx, place, compared)
    if (!(await isEpoch(tx, epoch))) return
    const lost = lostOf(sent, known, { from: compared, to: final, usedNonce })
    for (const { reference, nonce, actionId } of lost) {
      if (reference === null || actionId === null) continue
      const named = { ...action, id: actionId }
      await insertFound(tx, named, rail.network, { reference, nonce, lastValidHeight: null }, ctx.clock.now())
    }
    await rules.onLost?.(tx, lost)
    await saveComparedNonces(tx, place, final)
  })
  return NOT_OVER
}

/** What the account sent with these nonces and the database does not know. A transaction that failed has no log to name it. */
function lostOf(
  sent: readonly NamedTransaction[],
  known: readonly { readonly reference: string; readonly nonce: bigint }[],
  { from, to, usedNonce }: { readonly from: bigint; readonly to: bigint; readonly usedNonce: bigint | null },
): NamedTransaction[] {
  const lost: NamedTransaction[] = []
  for (let nonce = from; nonce < to; nonce++) {
    const found = sent.find((one) => one.nonce === nonce)
    const ours = known.filter((one) => one.nonce === nonce)
    const isKnown =
      found === undefined
        ? ours.length > 0 && nonce !== usedNonce
        : ours.some(({ reference }) => reference === found.reference)
    if (!isKnown) lost.push(found ?? { reference: null, nonce, actionId: null })
  }
  return lost
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

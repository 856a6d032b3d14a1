import { transact } from '@market/database/transact'
import type { Needs } from '../context.ts'
import type { ExpiringRail, NamedTransaction, NonceRail, Rail } from '../ports/transactions.ts'
import type { Action, Rules } from './action.ts'
import {
  findComparedNonces,
  findHorizon,
  findNextNonce,
  insertFound,
  insertHorizon,
  lockNonces,
  saveComparedNonces,
} from './store.ts'

type Ctx = Needs<'db' | 'clock'>

interface Moment {
  readonly epoch: string
  /** The nonce that the action had, when another transaction took it. */
  readonly usedNonce: bigint | null
}

/**
 * Whether everything that an earlier database epoch may have signed for the action is over or recorded. A database that was
 * restored or promoted may have lost its last transactions, which are on the chain or on their way there.
 */
export const isCompared = <R>(
  ctx: Ctx,
  rail: Rail,
  action: Action,
  rules: Rules<R>,
  moment: Moment,
): Promise<boolean> =>
  rail.lock === 'expiry'
    ? isComparedByName(ctx, rail, action, moment)
    : isComparedByNonce(ctx, rail, action, rules, moment)

/** What was lost has expired once the horizon of the epoch is final. Then the chain shows it, or it never was executed. */
async function isComparedByName(
  ctx: Ctx,
  rail: ExpiringRail,
  action: Action,
  { epoch }: Moment,
): Promise<boolean> {
  if (rail.find === undefined || action.keyEpoch === epoch) return true
  const horizon = await horizonOf(ctx, rail, epoch)
  const { final } = await rail.heights()
  if (final <= horizon) return false
  const reference = await rail.find(action.account, action.id)
  if (reference === undefined) return true
  const found = { reference, nonce: null, lastValidHeight: horizon }
  await transact(ctx.db, (tx) => insertFound(tx, action, rail.network, found, ctx.clock.now()))
  return false
}

async function horizonOf(ctx: Ctx, rail: ExpiringRail, epoch: string): Promise<bigint> {
  const known = await findHorizon(ctx.db, rail.network, epoch)
  if (known !== undefined) return known
  const { horizon } = await rail.heights()
  return transact(ctx.db, (tx) => insertHorizon(tx, rail.network, epoch, horizon))
}

/** How far back an account is read: a day of blocks every two seconds. What was lost before is only counted. */
const READ_BLOCKS = 43_200n

/**
 * The account does one thing at a time, so the first transaction that the database lost has the nonce after the last one that it
 * knows. While such a one is mined and not final, nothing is signed.
 */
async function isComparedByNonce<R>(
  ctx: Ctx,
  rail: NonceRail,
  action: Action,
  rules: Rules<R>,
  { usedNonce }: Moment,
): Promise<boolean> {
  const { final, mined, height } = await rail.counts(action.account)
  const place = { network: rail.network, account: action.account }
  const compared = await findComparedNonces(ctx.db, place)
  const isTaken = usedNonce !== null && usedNonce >= compared
  if (mined <= larger(compared, await findNextNonce(ctx.db, place)) && !isTaken) return true
  if (final < mined) return false
  const from = height > READ_BLOCKS ? height - READ_BLOCKS : 0n
  const sent = await rail.sentBetween(action.account, from, height)
  await transact(ctx.db, async (tx) => {
    const known = await lockNonces(tx, place, compared)
    const lost: NamedTransaction[] = []
    for (let nonce = compared; nonce < final; nonce++) {
      const found = sent.find((one) => one.nonce === nonce)
      const ours = known.filter((one) => one.nonce === nonce)
      // A transaction that failed has no log.
      const isKnown =
        found === undefined
          ? ours.length > 0 && nonce !== usedNonce
          : ours.some(({ reference }) => reference === found.reference)
      if (!isKnown) lost.push(found ?? { reference: null, nonce, actionId: null })
    }
    for (const { reference, nonce, actionId } of lost) {
      if (reference === null || actionId === null) continue
      const named = { ...action, id: actionId }
      await insertFound(tx, named, rail.network, { reference, nonce, lastValidHeight: null }, ctx.clock.now())
    }
    await rules.onLost?.(tx, lost)
    await saveComparedNonces(tx, place, final)
  })
  return false
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

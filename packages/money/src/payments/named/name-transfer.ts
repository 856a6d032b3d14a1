import { type Actor, type Needs, ownerWallets, payerWallets } from '@market/core/context'
import type { Buyer } from '@market/core/events'
import type { Depth, IncomingTransfer } from '@market/core/ports/chain'
import { CommitThenReject, type Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { FOREVER } from '@market/kernel/clock'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { findPayment } from '../find-payment.ts'
import { findWaitingIntent, isAwaited, openIntent } from '../intents/store.ts'
import type { Purpose, PurposeKind } from '../purpose.ts'
import {
  NamedBefore,
  type NamedTransaction,
  type Naming,
  type NamingRequest,
  type PurposeRule,
} from './purpose-rule.ts'
import { lockScope } from './store.ts'

/**
 * Releases the transfer when another purchase was paid with it although one of the caller's wallets made it. An error
 * means that it could not be released and is refunded. The module that binds payments to payers implements it.
 */
export type ReleaseContested = (
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  payment: NamedTransaction & {
    /** The transfer that pays; undefined when none was found. */
    readonly index: number | undefined
    /** What it is to pay for. */
    readonly purpose: Purpose
    readonly buyer: Buyer
    readonly payers: readonly string[]
  },
) => Promise<'unchanged' | 'released' | ApiError>

type Ctx = Needs<'db' | 'transact' | 'clock' | 'ids' | 'chains' | 'vault'> & {
  readonly releaseContested: ReleaseContested
}

/**
 * Pays for something with a transfer that the caller already made.
 *
 * The chain is queried before the transaction starts, because it can be slow. The result is checked again under the lock
 * of what is paid for; the unique key of the transfer decides when several requests use the same one. A transfer without
 * enough confirmations is waited for: a payment intent completes it later.
 */
export async function nameTransfer<
  Kind extends PurposeKind,
  Wanted extends NamedTransaction,
  Target,
  More extends object,
>(
  ctx: Ctx & More,
  rule: PurposeRule<Kind, Wanted, Target, More>,
  request: NamingRequest<Wanted>,
): Promise<Target> {
  const { actor, wanted } = request
  const { network, reference } = wanted
  const begun = await rule.begin(ctx, request)
  if (begun instanceof NamedBefore) return ctx.transact(begun.result)
  const payers = payersOf(actor, network, begun.payers)
  const naming = {
    network,
    reference,
    actor,
    payers,
    ...(await lookUp(ctx, rule, begun.target, wanted, payers)),
  }

  return ctx.transact(async (tx) => {
    if (rule.stored !== undefined) await lockScope(tx, rule.stored(begun.target).scope, wanted)
    const target = await begun.lock(tx)
    if (target instanceof NamedBefore) return target.result(tx)
    // Before anything else: whatever becomes of the target, another order must not be paid out with the caller's transfer.
    const contest = await ctx.releaseContested(ctx, tx, {
      ...{ network, reference, index: seenIn(naming)?.index },
      ...{
        purpose: rule.purposeOf(target),
        buyer: rule.buyerOf(target),
        payers: payerWallets(actor, network),
      },
    })
    if (contest instanceof ApiError) return new CommitThenReject(contest)
    const late = rule.late?.(target, naming, false)
    if (late !== undefined) {
      await use(ctx, tx, rule, target, naming, late)
      return new CommitThenReject(late)
    }
    const checked = await check(ctx, tx, rule, target, naming)
    if (!(checked instanceof ApiError)) return use(ctx, tx, rule, checked, naming)
    if (contest === 'released') return new CommitThenReject(checked)
    throw checked
  })
}

const seenIn = ({ transfer }: Naming): IncomingTransfer | undefined =>
  transfer instanceof ApiError ? undefined : transfer

type Looked = Pick<Naming, 'transfer' | 'depth'>

async function lookUp<Target>(
  ctx: Ctx,
  rule: Pick<PurposeRule<PurposeKind, never, Target>, 'isPayable' | 'due' | 'notBefore'>,
  target: Target,
  { network, reference }: NamedTransaction,
  payers: readonly string[],
): Promise<Looked> {
  let depth: Depth | null = null
  if (rule.isPayable?.(target) === false) return { transfer: undefined, depth }
  const query = { reference, payers, minAmount: rule.due(target), notBefore: rule.notBefore(target) }
  try {
    const transfer = await findPayment(ctx, network, { ...query, notAfter: FOREVER }, async (now) => {
      depth = now
    })
    return { transfer, depth }
  } catch (error) {
    if (error instanceof ApiError) return { transfer: error, depth }
    throw error
  }
}

/** The target, or why the transfer cannot pay it: an error so that what was released can be committed. */
async function check<Kind extends PurposeKind, Target>(
  ctx: Ctx,
  tx: Tx,
  rule: PurposeRule<Kind, never, Target, never>,
  target: Target,
  naming: Naming,
): Promise<Target | ApiError> {
  const { transfer } = naming
  try {
    const checked = (await rule.check?.(ctx, tx, target, naming, naming)) ?? target
    if (transfer instanceof ApiError) return transfer
    if (transfer !== undefined) requireDue(rule, checked, transfer)
    return checked
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** The price can have changed since the chain was queried. */
export function requireDue<Target>(
  rule: Pick<PurposeRule<PurposeKind, never, Target>, 'isPayable' | 'due' | 'underpaid'>,
  target: Target,
  { amount }: IncomingTransfer,
): void {
  if (rule.isPayable?.(target) === false) return
  const due = rule.due(target)
  if (amount < due) throw (rule.underpaid ?? underpaid)(due, amount)
}

export const underpaid = (due: Usdc, paid: Usdc): ApiError =>
  new ApiError('invalid', `The transfer is ${formatUsd(paid)} USDC but ${formatUsd(due)} USDC is due.`, {
    code: 'underpaid',
  })

/** Pays with the transfer, or waits for it. With `late` it is refunded. */
async function use<Kind extends PurposeKind, Target>(
  ctx: Ctx,
  tx: Tx,
  rule: PurposeRule<Kind, never, Target, never>,
  target: Target,
  naming: Naming,
  late?: ApiError,
): Promise<Target> {
  const { network, reference, payers, depth } = naming
  const transfer = seenIn(naming)
  const purpose = rule.purposeOf(target)
  const waiting = transfer === undefined ? await findWaitingIntent(tx, purpose) : undefined
  if (waiting?.network === network && waiting.reference === reference) return target
  const named = (await rule.onNamed?.(ctx, tx, target, naming, transfer)) ?? target
  const stored = rule.stored?.(named)
  if (transfer === undefined || stored !== undefined)
    await openIntent(ctx, tx, {
      ...{ purpose, network, reference, payers, depth, submission: null, ...stored },
      ...{ due: rule.due(named), notBefore: rule.notBefore(named) },
      status: transfer === undefined ? 'waiting' : late === undefined ? 'confirmed' : 'refunded',
    })
  if (transfer === undefined) return named
  const paid = { network, transfer, naming }
  if (late === undefined) return rule.onPaid(ctx, tx, named, paid)
  await rule.onLate?.(ctx, tx, named, paid, late)
  return named
}

/** Only the caller's own wallets count. Otherwise anyone could use another user's transfer. */
function payersOf(actor: Actor, network: Network, others: readonly string[] = []): string[] {
  const own = [...others, ...payerWallets(actor, network), ...ownerWallets(actor, network)]
  if (own.length > 0) return [...new Set(own)]
  throw new ApiError(
    'invalid',
    `No wallet of yours is proven on ${network}. Sign this request with the wallet that paid, or link it to your account. A smart wallet counts only on the network on which its contract signed.`,
    { code: 'payer_unknown' },
  )
}

/** An API key can pay from its owner's wallets, but not with a transfer that was named for something else of the owner. */
export async function ownersPayment(tx: Tx, purpose: Purpose, naming: Naming): Promise<ApiError | undefined> {
  const { network, reference, actor } = naming
  const payer = seenIn(naming)?.payer
  const unsigned = ownerWallets(actor, network).filter((key) => payer === undefined || key === payer)
  for (const key of unsigned)
    if (await isAwaited(tx, { network, reference, payer: key }, purpose))
      return new ApiError(
        'conflict',
        'Another order waits for this transfer. Make another transfer, or sign this request with the wallet that paid.',
        { code: 'transfer_used' },
      )
  return undefined
}

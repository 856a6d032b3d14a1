import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import type { Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { type Account, payable, post } from '../ledger/index.ts'
import type { Purpose } from '../payments/index.ts'
import { NO_ADDRESS, type Payout, type PayoutKind, payoutIdOf } from './payout.ts'
import { insertPayout, lockPayout, startRound } from './store.ts'
import { tellFailed } from './tell.ts'

export interface WantedPayout {
  readonly network: Network
  readonly kind: PayoutKind
  readonly subject: string
  /** Null when nobody knows yet where to pay it: it is set aside all the same. */
  readonly payee: string | null
  readonly amount: Usdc
  readonly from: Account
  /** The payment it is paid from, which must be final before it leaves. */
  readonly purpose?: Purpose
  /** The agent whose statement shows it. */
  readonly agentId?: AgentId
  /** It does not leave earlier. */
  readonly notBefore?: Date | undefined
  /** Whether that agent is told by an event how it ended. */
  readonly isTold?: boolean
}

/**
 * Decides that money will leave, in the transaction that is its reason: the ledger sets it aside and the intent is
 * written down. Asked again for the same subject it is the same payout.
 */
export async function requestPayout(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  wanted: WantedPayout,
): Promise<Payout> {
  const { network, kind, subject, payee, amount } = wanted
  const now = ctx.clock.now()
  const id = payoutIdOf(kind, subject)
  const notBefore = wanted.notBefore ?? null
  const isNew = await insertPayout(tx, notBefore ?? now, {
    id,
    network,
    kind,
    subject,
    purpose: wanted.purpose ?? null,
    payee,
    amount,
    state: payee === null ? 'failed' : 'queued',
    reason: payee === null ? NO_ADDRESS : null,
    nonce: null,
    round: 1,
    finalReference: null,
    toldAgent: wanted.isTold === true ? (wanted.agentId ?? null) : null,
    notBefore,
    createdAt: now,
    updatedAt: now,
  })
  const payout = isNew ?? (await again(ctx, tx, wanted))
  if (payout === undefined) return lockPayout(tx, id)
  await post(ctx, tx, {
    key: `payout.requested:${id}${payout.round === 1 ? '' : `:${payout.round}`}`,
    reason: `${kind}.requested`,
    subject,
    network,
    moves: [{ from: wanted.from, to: payable(network, id), amount }],
    ...(wanted.agentId !== undefined && { agentId: wanted.agentId }),
  })
  if (payout.state === 'failed') await tellFailed(ctx, tx, payout)
  return payout
}

/** One that was withdrawn is wanted after all, perhaps for another amount or elsewhere; any other is the one there is. */
async function again(
  ctx: Needs<'clock'>,
  tx: Tx,
  { kind, subject, network, amount, payee, ...wanted }: WantedPayout,
): Promise<Payout | undefined> {
  const known = await lockPayout(tx, payoutIdOf(kind, subject))
  if (known.state !== 'withdrawn') {
    assert(known.amount === amount && known.network === network, `${kind} of ${subject} is one and the same`)
    return undefined
  }
  const notBefore = wanted.notBefore ?? null
  return startRound(tx, known, ctx.clock.now(), { payee, amount, network, notBefore })
}

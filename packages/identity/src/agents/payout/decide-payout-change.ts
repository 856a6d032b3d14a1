import { isDeepStrictEqual } from 'node:util'
import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import type { Owner } from '../agent.ts'
import { lockOwnedAgent } from '../require-seller.ts'
import { payoutColumns } from '../row.ts'
import { saveAgent } from '../store.ts'
import type { OwnerSignature } from './owner-signature.ts'
import { type PayableAgent, withNetworks } from './payout-address.ts'
import { cancelChange, confirmSetting, type PayoutState } from './payout-settings.ts'
import { reportPayout } from './report-payout.ts'
import { insertConfirmation } from './store.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'>

/**
 * Applies the pending payout setting that the owner names, at once. Other pending settings still wait. The signature is
 * stored for the worker, which pays the address before the end of its 24 hours only when it has verified it.
 */
export const confirmPayoutChange = (
  ctx: Ctx,
  id: AgentId,
  owner: Owner,
  { address, signature }: { address: string; signature: OwnerSignature | undefined },
): Promise<PayableAgent> =>
  decide(ctx, id, owner, async (payout, now, tx) => {
    const confirmed = confirmSetting(payout, address, now)
    if (confirmed === undefined) throw noSuchChange(address)
    if (signature !== undefined) await insertConfirmation(tx, id, { ...signature, address })
    return confirmed
  })

/** Removes the pending change of the payout settings, if there is one. */
export const cancelPayoutChange = (ctx: Ctx, id: AgentId, owner: Owner): Promise<PayableAgent> =>
  decide(ctx, id, owner, async (payout, now) => cancelChange(payout, now))

const decide = (
  ctx: Ctx,
  id: AgentId,
  owner: Owner,
  decision: (payout: PayoutState, now: Date, tx: Tx) => Promise<PayoutState>,
): Promise<PayableAgent> =>
  ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, id, owner)
    const now = ctx.clock.now()
    const payout = await decision(agent.payout, now, tx)
    if (isDeepStrictEqual(payout, agent.payout)) return withNetworks(ctx, tx, agent)
    const saved = await saveAgent(tx, id, { ...payoutColumns(payout), updated_at: now })
    await reportPayout(ctx, tx, agent, saved)
    return withNetworks(ctx, tx, saved)
  })

const noSuchChange = (named: string): ApiError =>
  new ApiError(
    'conflict',
    `No pending change of this agent sets ${JSON.stringify(named)}. Read pending_payout, and name its new value.`,
    { code: 'no_payout_change' },
  )

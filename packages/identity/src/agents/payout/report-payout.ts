import { isDeepStrictEqual } from 'node:util'
import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import type { Agent } from '../agent.ts'
import { END_LEAK, notifyOwner } from '../notify-owner.ts'
import { effectiveAt, isSame, type PayoutSettings, type PendingPayout, payoutAt } from './payout-settings.ts'

type Ctx = Needs<'clock' | 'ids' | 'vault' | 'actor' | 'requestId'>

/** Records a change of the payout settings, with those before it, and notifies the owner. */
export async function reportPayout(ctx: Ctx, tx: Tx, before: Agent, after: Agent): Promise<void> {
  const now = ctx.clock.now()
  const [old, current] = [payoutAt(before.payout, now), payoutAt(after.payout, now)]
  const isNow = !isSame(old.settings, current.settings)
  if (!isNow && isDeepStrictEqual(current.pending, old.pending)) return
  const { pending } = current
  await record(ctx, tx, {
    act: 'agents.payout',
    subject: after.id,
    details: {
      from: fieldsOf(old.settings),
      to: fieldsOf(current.settings),
      pending: pending && { ...fieldsOf(pending), effective_at: effectiveAt(pending), by: pending.by },
    },
  })
  await notifyOwner(ctx, tx, after, {
    kind: 'agent.payout_changed',
    ...textOf(after, pending, isNow),
    data: {
      ...fieldsOf(pending ?? current.settings),
      effective_at: pending && effectiveAt(pending).toISOString(),
    },
  })
}

function textOf(
  agent: Agent,
  pending: PendingPayout | null,
  isNow: boolean,
): { title: string; body: string } {
  if (pending === null)
    return {
      title: `Payout settings of ${agent.name}: ${isNow ? 'changed' : 'no change is pending any more'}`,
      body: isNow
        ? `The change is in effect. ${END_LEAK}`
        : 'The pending change was cancelled. Payouts go where they went before.',
    }
  const at = effectiveAt(pending).toISOString()
  const addresses = `Solana: ${pending.payoutWallet ?? 'none'}; Base: ${pending.payoutAddressBase ?? 'none'}`
  return {
    title: `Payout settings of ${agent.name} change at ${at}`,
    body: `From then on the payout addresses are: ${addresses}. Until then payouts go where they went before. Confirm it with POST /api/agents/{agent_id}/payout-change/confirm, or cancel it with POST /api/agents/{agent_id}/payout-change/cancel. ${END_LEAK}`,
  }
}

const fieldsOf = ({ payoutChain, payoutWallet, payoutAddressBase }: PayoutSettings) => ({
  payout_chain: payoutChain,
  payout_wallet: payoutWallet,
  payout_address_base: payoutAddressBase,
})

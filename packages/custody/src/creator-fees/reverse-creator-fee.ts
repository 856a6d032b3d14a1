import type { ApprovalRule } from '@market/core/approvals'
import type { Needs } from '@market/core/context'
import { ownerRecipients } from '@market/core/notifications'
import type { Tx } from '@market/database/transact'
import { findAgentById } from '@market/identity/agents'
import { type CreatorFee, type CreatorFeeId, formatSol } from './creator-fee.ts'
import { feeNotFound, feeReversed } from './errors.ts'
import { lockFee, saveReversal } from './store.ts'

/** Takes a wrong record back, settled or not, so that its transactions can be recorded again. It moves no money. */
export const reverseCreatorFee: ApprovalRule<Needs<'clock'>, CreatorFeeId> = {
  async check(_ctx, tx, id) {
    const { agentId, mint, amount, sourceTx, settlement } = await lockStanding(tx, id)
    const settled = settlement === null ? '' : `, settled by ${settlement.tx}`
    return {
      subject: id,
      summary: `reverse the creator fee ${id}: ${formatSol(amount)} SOL of ${mint} for ${agentId} by ${sourceTx}${settled}`,
      recipients: ownerRecipients(await findAgentById(tx, agentId)),
    }
  },

  async execute(ctx, tx, id, approvalId) {
    const { agentId, amount, sourceTx, settlement } = await lockStanding(tx, id)
    await saveReversal(tx, id, { approvalId, at: ctx.clock.now() })
    const details = {
      creator_fee_id: id,
      source_tx: sourceTx,
      amount_sol: formatSol(amount),
      settle_tx: settlement?.tx ?? null,
    }
    return { act: 'creator_fees.reverse', subject: agentId, details }
  },
}

async function lockStanding(tx: Tx, id: CreatorFeeId): Promise<CreatorFee> {
  const fee = await lockFee(tx, id)
  if (fee === undefined) throw feeNotFound()
  if (fee.reversal !== null) throw feeReversed(id)
  return fee
}

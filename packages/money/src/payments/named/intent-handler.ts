import type { IntentHandler, ReversalHandler } from '../intents/intent.ts'
import type { PurposeKind } from '../purpose.ts'
import { requireDue } from './name-transfer.ts'
import type { PurposeRule } from './purpose-rule.ts'

/** What becomes of a target whose named transfer is confirmed, reversed, or never comes. */
export const intentHandler = <Kind extends PurposeKind, Target>(
  rule: PurposeRule<Kind, never, Target, never>,
): IntentHandler & ReversalHandler<Kind> => ({
  async onConfirmed(ctx, tx, intent, transfer) {
    const target = await rule.lock(tx, intent)
    if (target === undefined) return 'cancelled'
    requireDue(rule, target, transfer)
    const { network, reference, payers } = intent
    const late = rule.late?.(target, { payers: payers ?? [], transfer }, true)
    if (late !== undefined) {
      await rule.onLate?.(ctx, tx, target, { network, transfer }, late)
      return 'refunded'
    }
    const checked = await rule.check?.(ctx, tx, target, { network, reference, transfer }, undefined)
    await rule.onPaid(ctx, tx, checked ?? target, { network, transfer })
    return 'confirmed'
  },

  async onFailed(ctx, tx, intent, failure) {
    const target = await rule.lock(tx, intent)
    if (target !== undefined) await rule.onFailed(ctx, tx, target, failure, intent)
  },

  onReversed: rule.onReversed,
})

import type { Actor } from '@market/core/context'
import {
  type NamedTransaction,
  nameTransfer,
  type PurposeKind,
  type PurposeRule,
} from '@market/money/payments'
import { releaseContested } from '@market/trade/x402'
import type { HandlerContext } from './handler.ts'

/** Pays for something with a transfer that the caller names. */
export const payByTransfer = <Kind extends PurposeKind, Wanted extends NamedTransaction, Target>(
  ctx: HandlerContext,
  actor: Actor,
  rule: PurposeRule<Kind, Wanted, Target, HandlerContext>,
  wanted: Wanted,
): Promise<Target> => {
  const keyHint = ctx.caller.agent?.apiKeyHint
  return nameTransfer({ ...ctx, releaseContested }, rule, { actor, wanted, keyHint })
}

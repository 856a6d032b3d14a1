import type { Tx } from '@market/database/transact'
import { type Needs, nameOf } from '../context.ts'
import { sealOf } from './entry.ts'
import { insertEntry, lockHead, saveHead } from './store.ts'

/** Writes down who did what, in the transaction that did it. The head's row lock keeps the chain in one line. */
export async function record(
  ctx: Needs<'actor' | 'clock' | 'vault' | 'requestId'>,
  tx: Tx,
  what: { act: string; subject: string; details?: Readonly<Record<string, unknown>> },
): Promise<void> {
  const entry = {
    at: ctx.clock.now(),
    actor: nameOf(ctx.actor),
    act: what.act,
    subject: what.subject,
    requestId: ctx.requestId,
    details: what.details ?? {},
  }
  const head = await lockHead(tx)
  const seq = head.seq + 1n
  const seal = sealOf(head.seal, seq, entry, ctx.vault.fingerprint)
  await insertEntry(tx, seq, entry, seal)
  await saveHead(tx, seq, seal)
}

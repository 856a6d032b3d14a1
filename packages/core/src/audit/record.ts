import type { Tx } from '@market/database/transact'
import { type Actor, type Credential, type Needs, nameOf, type SystemActor } from '../context.ts'
import { sealOf } from './entry.ts'
import { insertEntry, lockHead, saveHead } from './store.ts'

/** Records who did what, in the transaction that did it. The row lock of the head serializes the chain. */
export async function record(
  ctx: Needs<'clock' | 'vault' | 'requestId'> & { readonly actor: Actor | SystemActor },
  tx: Tx,
  input: { act: string; subject: string; details?: Readonly<Record<string, unknown>> },
): Promise<void> {
  const entry = {
    at: ctx.clock.now(),
    actor: nameOf(ctx.actor),
    // fix: audit-credential
    credential: stored(ctx.actor.credential),
    act: input.act,
    subject: input.subject,
    requestId: ctx.requestId,
    details: input.details ?? {},
  }
  const head = await lockHead(tx)
  const seq = head.seq + 1n
  const seal = sealOf(head.seal, seq, entry, (text) => ctx.vault.fingerprint('audit', text))
  await insertEntry(tx, seq, entry, seal)
  await saveHead(tx, seq, seal)
}

const stored = (credential: Credential | undefined) => {
  if (credential === undefined) return null
  const { kind, id, grantId, program } = credential
  return { kind, id, ...(grantId && { grant_id: grantId }), ...(program && { program }) }
}

import type { Needs } from '../context.ts'
import { sealOf } from './entry.ts'
import { findEntriesAfter, findHead } from './store.ts'

const BATCH = 500

/**
 * Walks the whole chain and names the first row that does not fit, or nothing. The head is read first, so that
 * rows written meanwhile are no alarm: they lie behind it and fit.
 */
export async function verifyAudit(ctx: Needs<'db' | 'vault'>): Promise<{ brokenAt: bigint } | undefined> {
  const head = await findHead(ctx.db)
  let seq = 0n
  let seal: Buffer = Buffer.alloc(32)
  let headFits = head.seq === 0n && head.seal.equals(seal)
  for (;;) {
    const entries = await findEntriesAfter(ctx.db, seq, BATCH)
    for (const entry of entries) {
      const expected = sealOf(seal, seq + 1n, entry, ctx.vault.fingerprint)
      if (entry.seq !== seq + 1n || !expected.equals(entry.seal)) return { brokenAt: seq + 1n }
      seq = entry.seq
      seal = entry.seal
      if (seq === head.seq) headFits = head.seal.equals(seal)
    }
    if (entries.length < BATCH) break
  }
  return headFits ? undefined : { brokenAt: seq + 1n }
}

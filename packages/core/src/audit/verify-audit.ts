import type { Needs } from '../context.ts'
import { sealOf } from './entry.ts'
import { findEntriesAfter, findHead } from './store.ts'

const BATCH = 500

/**
 * Verifies the whole chain and returns the first invalid row. An entry may have the seal of any configured audit key,
 * the current or a former one. The head is read first, so that rows written during the check do not count as invalid.
 */
export async function verifyAudit(ctx: Needs<'db' | 'vault'>): Promise<{ brokenAt: bigint } | undefined> {
  const head = await findHead(ctx.db)
  let seq = 0n
  let seal: Buffer = Buffer.alloc(32)
  let headMatches = head.seq === 0n && head.seal.equals(seal)
  for (;;) {
    const entries = await findEntriesAfter(ctx.db, seq, BATCH)
    for (const entry of entries) {
      const expected = sealOf(seal, seq + 1n, entry, (text) => ctx.vault.fingerprints('audit', text))
      const isValid = entry.seq === seq + 1n && expected.some((one) => one.equals(entry.seal))
      if (!isValid) return { brokenAt: seq + 1n }
      seq = entry.seq
      seal = entry.seal
      if (seq === head.seq) headMatches = head.seal.equals(seal)
    }
    if (entries.length < BATCH) break
  }
  return headMatches ? undefined : { brokenAt: seq + 1n }
}

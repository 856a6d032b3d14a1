const BATCH = 1_000

/**
 * Deletes in batches until no row is left. A single statement would hold its locks for too long, and a maximum per run could be
 * slower than the inserts. What the caller deletes in a batch commits by itself, so a worker that ends in it loses only that.
 */
export async function inBatches(deleteSome: (atMost: number) => Promise<number>): Promise<number> {
  for (let all = 0; ; ) {
    const deleted = await deleteSome(BATCH)
    all += deleted
    // fix: retention-until-done
    if (deleted < BATCH) return all
  }
}

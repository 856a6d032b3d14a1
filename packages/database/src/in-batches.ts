const BATCH = 1_000

/**
 * Deletes in batches until no row is left. A single statement would hold its locks for too long, and a fixed number per
 * minute could be slower than the inserts. It stops after a maximum number of batches, and the next sweep continues.
 */
export async function inBatches(
  mostBatches: number,
  deleteSome: (atMost: number) => Promise<number>,
): Promise<number> {
  let all = 0
  for (let batch = 0; batch < mostBatches; batch++) {
    const deleted = await deleteSome(BATCH)
    all += deleted
    if (deleted < BATCH) break
  }
  return all
}

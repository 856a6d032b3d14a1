const BATCH = 1_000

/**
 * Deletes batch by batch until none is left: one statement for all would hold its locks for as long as it takes, and a
 * fixed number a minute would fall behind whoever writes faster. After so many batches it ends, and the next sweep goes on.
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

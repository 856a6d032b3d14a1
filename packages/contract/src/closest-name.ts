/** The name that is most similar to `name`, or undefined when more than a third of its characters differ. */
export function closestName(name: string, candidates: readonly string[]): string | undefined {
  let closest: string | undefined
  let smallest = Number.POSITIVE_INFINITY
  for (const candidate of candidates) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    const allowed = Math.floor(Math.max(name.length, candidate.length) / 3)
    if (distance > allowed || distance >= smallest) continue
    closest = candidate
    smallest = distance
  }
  return closest
}

/** Counts inserted, deleted, replaced and swapped characters (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const width = b.length + 1
  const table = new Uint16Array((a.length + 1) * width)
  const at = (row: number, column: number): number => table[row * width + column] ?? 0
  for (let row = 0; row <= a.length; row++) {
    for (let column = 0; column <= b.length; column++) {
      table[row * width + column] = distanceAt(row, column)
    }
  }
  return at(a.length, b.length)

  function distanceAt(row: number, column: number): number {
    if (row === 0 || column === 0) return row + column
    const isSame = a[row - 1] === b[column - 1]
    const isSwap = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
    return Math.min(
      at(row - 1, column) + 1,
      at(row, column - 1) + 1,
      at(row - 1, column - 1) + (isSame ? 0 : 1),
      isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
    )
  }
}

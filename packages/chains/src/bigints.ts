/** The largest number, or `lowerLimit` when none is larger. */
export const largest = (numbers: readonly bigint[], lowerLimit = 0n): bigint => {
  let result = lowerLimit
  for (const number of numbers) if (number > result) result = number
  return result
}

export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

export const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

/** The largest of them, or `least` when none is larger. */
export const largest = (numbers: readonly bigint[], least = 0n): bigint => {
  let most = least
  for (const number of numbers) if (number > most) most = number
  return most
}

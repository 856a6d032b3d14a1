/** Writes a number that is not negative in full, with at least two decimals: 1.5e-9 is 0.0000000015, and 2 is 2.00. */
export function decimalOf(value: number): string {
  const [significand = '', exponent = '0'] = value.toString().split('e')
  const [whole = '', fraction = ''] = significand.split('.')
  const point = whole.length + Number(exponent)
  const digits = '0'.repeat(Math.max(0, 1 - point)) + (whole + fraction).padEnd(point, '0')
  const at = Math.max(1, point)
  return `${digits.slice(0, at)}.${digits.slice(at).padEnd(2, '0')}`
}

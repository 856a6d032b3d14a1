const MICROS = 1_000_000n
const DECIMALS = 6

/** Millionths of a dollar of a decimal text; undefined when it is none. */
export function microsOf(usd: string): bigint | undefined {
  const [, whole, decimals = ''] = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(usd) ?? []
  return whole === undefined ? undefined : BigInt(whole) * MICROS + BigInt(decimals.padEnd(DECIMALS, '0'))
}

/** A decimal text with two to six decimals. */
export function usdOf(micros: bigint): string {
  const decimals = String(micros % MICROS).padStart(DECIMALS, '0')
  return `${micros / MICROS}.${decimals.replace(/0{1,4}$/, '')}`
}

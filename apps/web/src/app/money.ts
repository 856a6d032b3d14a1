/** "12.5" to 12500000n: millionths of a USDC. */
export function micros(amount: string): bigint {
  const [whole = '0', decimals = ''] = amount.split('.')
  return BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, '0'))
}

/** 12500000n to "12.50", with two to six decimals. */
export function amountOf(micro: bigint): string {
  const text = `${micro / 1_000_000n}.${String(micro % 1_000_000n).padStart(6, '0')}`
  return text.replace(/(\.\d{2}\d*?)0+$/, '$1')
}

export const sumOf = (amounts: readonly string[]): string =>
  amountOf(amounts.reduce((sum, amount) => sum + micros(amount), 0n))

/** A part of a price in 1/10,000, rounded up to the next millionth. */
export const shareOf = (price: string, bps: number): string =>
  amountOf((micros(price) * BigInt(bps) + 9_999n) / 10_000n)

/** "105.4 %", or undefined when nothing is owed. Rounded down, so that 99.99 % is never shown as 100 %. */
export function ratioOf(held: string, owed: string): string | undefined {
  if (micros(owed) === 0n) return undefined
  const tenths = (micros(held) * 1_000n) / micros(owed)
  return `${(tenths / 10n).toLocaleString('en')}.${tenths % 10n} %`
}

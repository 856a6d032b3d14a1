/** Shares are counted in units of 10^-12. */
export const SHARE_DECIMALS = 12

export const presentShares = (units: bigint): string => {
  const digits = units.toString().padStart(SHARE_DECIMALS + 1, '0')
  return `${digits.slice(0, -SHARE_DECIMALS)}.${digits.slice(-SHARE_DECIMALS)}`
}

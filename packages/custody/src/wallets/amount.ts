import { isToken, type WalletAsset, type WalletCoin } from '@market/core/ports/agent-wallets'
import { ApiError } from '@market/kernel/api-error'

/** Decimals of SOL and USDC. Those of another token are its mint's. */
const DECIMALS: Readonly<Record<WalletCoin, number>> = { SOL: 9, USDC: 6 }

/** Units of an asset in one coin. */
export const UNITS: Readonly<Record<WalletCoin, number>> = { SOL: 1_000_000_000, USDC: 1_000_000 }

/** Exact for up to nine decimals: a whole number of units is found by rounding, because the input was checked. */
export const unitsOf = (asset: WalletCoin, coins: number): bigint => BigInt(Math.round(coins * UNITS[asset]))

export const coinsOf = (asset: WalletCoin, units: bigint): number => Number(units) / UNITS[asset]

/** SOL, USDC or the mint: as callers name an asset, and as a signature does. */
export const nameOfAsset = (asset: WalletAsset): string => (isToken(asset) ? asset.mint : asset)

/** Exact and without trailing zeros: 1500000 with 6 decimals is 1.5. */
export function formatUnits(units: bigint, decimals: number): string {
  const sign = units < 0n ? '-' : ''
  const digits = String(units < 0n ? -units : units).padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${sign}${whole}${rest === '' ? '' : `.${rest}`}`
}

/** Undefined when the text has more decimals than the token. */
export function parseUnits(text: string, decimals: number): bigint | undefined {
  const [whole = '', rest = ''] = text.split('.')
  return rest.length > decimals ? undefined : BigInt(whole + rest.padEnd(decimals, '0'))
}

/** SOL and USDC are numbers. A token can have more digits than a number holds exactly. */
export const shownAmount = (asset: WalletAsset, units: bigint): number | string =>
  isToken(asset) ? formatUnits(units, asset.decimals) : coinsOf(asset, units)

/** For messages. */
export const textOf = (asset: WalletAsset, units: bigint): string =>
  `${formatUnits(units, isToken(asset) ? asset.decimals : DECIMALS[asset])} ${isToken(asset) ? `of the token ${asset.mint}` : asset}`

/** What a caller wants to send, as the contract parsed it. */
export interface WantedAmount {
  readonly asset: string
  /** A number of SOL or USDC, a decimal string of a token. Undefined is everything. */
  readonly amount: number | string | undefined
}

/** The largest amount that a token account can hold. */
const MOST_UNITS = 2n ** 64n - 1n

/** Of a token: the mint, and the text of the amount, which only its decimals turn into units. */
export type Wanted =
  | { readonly asset: WalletCoin; readonly amount: bigint | null }
  | { readonly mint: string; readonly text: string | null }

/** Checks what can be checked without the chain. */
export function parseWanted({ asset, amount }: WantedAmount): Wanted {
  if (asset !== 'SOL' && asset !== 'USDC') {
    if (typeof amount === 'number') throw badAmount('must be a decimal string, as in "1.5"')
    return { mint: asset, text: amount ?? null }
  }
  if (amount === undefined) return { asset, amount: null }
  if (typeof amount === 'string') throw badAmount('must be a number')
  const units = unitsOf(asset, amount)
  if (coinsOf(asset, units) === amount && units > 0n) return { asset, amount: units }
  throw badAmount(`must have at most ${DECIMALS[asset]} decimals`)
}

/** The units of a token. Null is everything. */
export function tokenUnits(text: string | null, decimals: number): bigint | null {
  if (text === null) return null
  const units = parseUnits(text, decimals)
  if (units === undefined) throw badAmount(`must have at most ${decimals} decimals`)
  if (units > 0n && units <= MOST_UNITS) return units
  throw badAmount(`must be above 0 and at most ${formatUnits(MOST_UNITS, decimals)}`)
}

const badAmount = (message: string): ApiError =>
  new ApiError('invalid', `amount ${message}.`, { details: [{ path: 'amount', message }] })

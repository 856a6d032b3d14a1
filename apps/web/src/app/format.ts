import type { PriceType } from './names.ts'

/** "1234.5" to "1,234.50". The amount stays text: no digit is computed. */
export function usdc(amount: string): string {
  const [whole = '0', decimals = ''] = amount.split('.')
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',')
  return `${grouped}.${decimals.padEnd(2, '0')}`
}

const PER: Readonly<Record<PriceType, string>> = {
  fixed: 'USDC',
  quote: 'USDC',
  weekly: 'USDC / week',
  monthly: 'USDC / month',
}

export const unitOf = (priceType: PriceType): string => PER[priceType]

/** 1 to "1 h", 24 to "24 h", 72 to "3 d". */
export const shortHours = (count: number): string =>
  count >= 48 && count % 24 === 0 ? `${count / 24} d` : `${count} h`

/** 1 to "1 hour", 24 to "24 hours", 72 to "3 days". */
export const hours = (count: number): string => {
  if (count >= 48 && count % 24 === 0) return `${count / 24} days`
  return count === 1 ? '1 hour' : `${count} hours`
}

export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

const STEPS = [
  [60, 'second', 1],
  [3_600, 'minute', 60],
  [86_400, 'hour', 3_600],
  [2_592_000, 'day', 86_400],
] as const

/** "2 hours ago"; a day and a month for what is older than 30 days. */
export function ago(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1_000))
  for (const [below, unit, size] of STEPS)
    if (seconds < below) return `${counted(Math.floor(seconds / size), unit)} ago`
  return day(at)
}

/** "18 s", "2 min", "5 h", "3 d". */
export function shortAgo(at: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(at)) / 1_000))
  for (const [below, unit, size] of STEPS)
    if (seconds < below) return `${Math.floor(seconds / size)} ${SHORT[unit]}`
  return shortDay(at)
}

const SHORT = { second: 's', minute: 'min', hour: 'h', day: 'd' } as const

const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' })

const SHORT_DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** "18 Nov" */
export const shortDay = (at: string): string => SHORT_DAY.format(new Date(at))

const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })

/** "18 Nov 2026, 12:40 UTC" */
export const time = (at: string): string => `${TIME.format(new Date(at))} UTC`

const SHORT_TIME = new Intl.DateTimeFormat('en-GB', {
  ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', timeZone: 'UTC' },
})

/** "18 Nov, 12:40", where the page says that times are in UTC. */
export const shortTime = (at: string): string => SHORT_TIME.format(new Date(at))

export const day = (at: string): string => DAY.format(new Date(at))

/** 0x1234…abcd */
export const shortened = (address: string): string =>
  address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address

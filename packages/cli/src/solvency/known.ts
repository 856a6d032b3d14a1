import { isSolana, type Venue } from '@market/solvency'
import { UsageError } from '../usage-error.ts'

export type ByNetwork = Readonly<Record<string, string>>

/** What the user knows, and the API therefore cannot invent. */
export interface Known {
  readonly rpcs: ByNetwork
  readonly tokens: ByNetwork
  readonly treasuries: ByNetwork
  readonly colds: ByNetwork
  readonly venues: Readonly<Record<string, readonly Venue[]>>
}

const USDC: ByNetwork = {
  'solana-mainnet': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'base-mainnet': '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
}

interface KnownOptions {
  readonly rpc: readonly string[]
  readonly usdc: readonly string[]
  readonly treasury: readonly string[]
  readonly cold: readonly string[]
  readonly venue: readonly string[]
}

export function knownOf({ rpc, usdc, treasury, cold, venue }: KnownOptions): Known {
  const rpcs = byNetwork('rpc', rpc)
  for (const [network, url] of Object.entries(rpcs))
    if (!URL.canParse(url)) throw new UsageError(`--rpc of ${network} is not a URL.`)
  return {
    rpcs,
    tokens: { ...USDC, ...byNetwork('usdc', usdc) },
    treasuries: byNetwork('treasury', treasury),
    colds: byNetwork('cold', cold),
    venues: venuesOf(venue),
  }
}

/** The networks that an option names. */
export const namedNetworks = ({ rpcs, treasuries, colds, venues }: Known): string[] =>
  Object.keys({ ...rpcs, ...treasuries, ...colds, ...venues })

function pair(option: string, text: string): readonly [network: string, value: string] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--${option} is ${text}. Write --${option} base-mainnet=….`)
  return [text.slice(0, at), text.slice(at + 1)]
}

function byNetwork(option: string, texts: readonly string[]): ByNetwork {
  const pairs = texts.map((text) => pair(option, text))
  const named = Object.fromEntries(pairs)
  if (Object.keys(named).length < pairs.length)
    throw new UsageError(`--${option} names a network twice. Write it once per network.`)
  return named
}

const VENUE = /^(0x[0-9a-f]{40}):(0x[0-9a-f]{40})$/

function venuesOf(texts: readonly string[]): Record<string, Venue[]> {
  const venues: Record<string, Venue[]> = {}
  for (const text of new Set(texts.map((one) => one.toLowerCase()))) {
    const [network, value] = pair('venue', text)
    const [, wallet, vault] = VENUE.exec(value) ?? []
    if (wallet === undefined || vault === undefined || isSolana(network))
      throw new UsageError(`--venue is ${text}. Write --venue base-mainnet=<wallet>:<vault>.`)
    venues[network] = [...(venues[network] ?? []), { wallet, vault }]
  }
  return venues
}

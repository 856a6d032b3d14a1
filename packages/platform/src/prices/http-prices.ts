import type { Prices, TokenPrice } from '@market/core/ports/prices'
import { unavailable } from '@market/kernel/api-error'
import { SECOND } from '@market/kernel/clock'
import { z } from 'zod'
import { fetchJson } from '../fetch-json.ts'
import { decimalOf } from './decimal.ts'

interface HttpPricesSettings {
  /** With `{mints}`, which is replaced by mints separated by commas. */
  readonly url: string
  readonly timeoutMs: number
  /** How old a price may be while the source does not respond. */
  readonly staleMs: number
  /** Milliseconds that only rise. */
  readonly clock?: () => number
  readonly maxEntries?: number
}

/** How long a price is served without asking the source again. */
const FRESH_MS = 30 * SECOND
/** How long a source that failed is left alone. */
const PAUSE_MS = 2 * SECOND
/** Mints in one request: the URL stays short. */
const BATCH = 50
/** Requests to the source at a time. */
const MAX_REQUESTS = 8
const MAX_ENTRIES = 10_000
const MAX_BYTES = 1_024 * 1_024

const LARGEST = 1e18
const SMALLEST = 1e-18

const Amount = z
  .number()
  .min(0)
  .max(LARGEST)
  .refine((value) => value === 0 || value >= SMALLEST)

const Body = z.record(z.string(), z.unknown())
const Entry = z.object({ usd: Amount, usd_market_cap: Amount.nullable().catch(null) })

class RejectedRequest extends Error {}

type PricesByMint = ReadonlyMap<string, TokenPrice | null>

interface Known {
  readonly price: TokenPrice | null
  readonly at: number
}

/**
 * Prices of a server that returns `{<mint>: {usd, usd_market_cap}}`. They are cached; a mint is requested once at a time.
 * While the server does not respond, older prices are served.
 */
export function httpPrices(settings: HttpPricesSettings): Prices {
  const { url, timeoutMs, staleMs, clock = () => performance.now(), maxEntries = MAX_ENTRIES } = settings
  const known = new Map<string, Known>()
  const requests = new Map<string, Promise<PricesByMint>>()
  let running = 0
  let pausedUntil = Number.NEGATIVE_INFINITY

  const knownFor = (mint: string, ms: number): Known | undefined => {
    const found = known.get(mint)
    return found !== undefined && clock() - found.at < ms ? found : undefined
  }

  const remember = (mint: string, entry: Known): void => {
    known.delete(mint)
    known.set(mint, entry)
    const [oldest] = known.keys()
    if (known.size > maxEntries && oldest !== undefined) known.delete(oldest)
  }

  const request = async (mints: readonly string[]): Promise<PricesByMint> => {
    if (clock() < pausedUntil) throw new Error('the price source failed a moment ago')
    if (running >= MAX_REQUESTS) throw new Error('too many requests to the price source are under way')
    running += 1
    try {
      const prices = await readPrices(url, mints, timeoutMs)
      const at = clock()
      for (const [mint, price] of prices) remember(mint, { price, at })
      return prices
    } catch (error) {
      // A request that the source rejects says nothing about the others.
      if (!(error instanceof RejectedRequest)) pausedUntil = clock() + PAUSE_MS
      throw error
    } finally {
      running -= 1
    }
  }

  const requestMissing = (mints: readonly string[]): void => {
    const missing = mints.filter((mint) => !requests.has(mint) && knownFor(mint, FRESH_MS) === undefined)
    for (let at = 0; at < missing.length; at += BATCH) {
      const batch = missing.slice(at, at + BATCH)
      const prices = request(batch)
      const forget = () => {
        for (const mint of batch) requests.delete(mint)
      }
      for (const mint of batch) requests.set(mint, prices)
      prices.then(forget, forget)
    }
  }

  const findPrice = async (mint: string): Promise<TokenPrice | null> => {
    const fresh = knownFor(mint, FRESH_MS)
    if (fresh !== undefined) return fresh.price
    try {
      return (await requests.get(mint))?.get(mint) ?? null
    } catch (error) {
      const stale = knownFor(mint, staleMs)
      if (stale !== undefined) return stale.price
      throw unavailable('The price source does not respond. Try again in a moment.', error)
    }
  }

  return {
    findPrices: async (mints) => {
      requestMissing(mints)
      return new Map(await Promise.all(mints.map(async (mint) => [mint, await findPrice(mint)] as const)))
    },
  }
}

async function readPrices(url: string, mints: readonly string[], timeoutMs: number): Promise<PricesByMint> {
  const address = new URL(url.replaceAll('{mints}', mints.join(',')))
  const { status, body } = await fetchJson(address, { timeoutMs, maxBytes: MAX_BYTES })
  const text = `the price source responded with ${status}`
  if (status >= 400 && status < 500 && status !== 429) throw new RejectedRequest(text)
  if (status !== 200) throw new Error(text)
  const prices = Body.parse(body)
  return new Map(mints.map((mint) => [mint, Object.hasOwn(prices, mint) ? priceOf(prices[mint]) : null]))
}

/** Null for everything that is not a price: a wrong figure would be worse than none. */
function priceOf(entry: unknown): TokenPrice | null {
  const { data } = Entry.safeParse(entry)
  if (data === undefined) return null
  const { usd, usd_market_cap } = data
  return {
    priceUsd: decimalOf(usd),
    marketCapUsd: usd_market_cap === null ? null : decimalOf(usd_market_cap),
  }
}

import { solanaSwapChecker } from '@market/chains/solana/swap/solana-swaps'
import type { Swaps } from '@market/core/ports/swaps'
import { SECOND } from '@market/kernel/clock'
import { httpPrices } from '@market/platform/prices/http-prices'
import { rpcTimeoutMs } from '@market/platform/settings/chains'
import { httpSwapVenue } from '@market/platform/swaps/http-swap-venue'
import type { Config } from './config.ts'

const PRICES_TIMEOUT_MS = 2_000
const SWAP_ORDER_TIMEOUT_MS = 5_000
/** A venue waits until the transaction is confirmed. */
const SWAP_EXECUTE_TIMEOUT_MS = 10_000

export function pricesOf({
  PRICES_URL: url,
  PRICES_STALE_SECONDS: staleSeconds,
  TIMEOUT_FACTOR: factor,
}: Config) {
  if (url === undefined) return undefined
  return httpPrices({ url, timeoutMs: PRICES_TIMEOUT_MS * factor, staleMs: staleSeconds * SECOND })
}

export function swapsOf(config: Config, onFailedSubmission: (error: unknown) => void): Swaps | undefined {
  const { SWAP_URL: url, SWAP_API_KEY: apiKey, SOLANA_USDC: usdc, TIMEOUT_FACTOR: factor } = config
  if (url === undefined) return undefined
  return {
    venue: httpSwapVenue({
      url,
      apiKey,
      usdc,
      orderTimeoutMs: SWAP_ORDER_TIMEOUT_MS * factor,
      executeTimeoutMs: SWAP_EXECUTE_TIMEOUT_MS * factor,
      onFailedSubmission,
    }),
    checker: solanaSwapChecker({ rpcUrls: config.SOLANA_RPC_URLS, timeoutMs: rpcTimeoutMs(config), usdc }),
  }
}

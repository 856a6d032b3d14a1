import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'

interface OpenLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** A configured network. `open` checks its nodes and resolves with the treasury address. */
export interface ConfiguredNetwork {
  readonly network: Network
  open(): Promise<string>
}

const RETRY_MS = 1_000

/**
 * Opens the configured networks. `broken` rejects when a node is on the wrong chain. A network that cannot be reached is
 * checked again until it can be, and does not block the other networks.
 */
export async function openNetworks(networks: readonly ConfiguredNetwork[], log: OpenLog) {
  const stop = new AbortController()
  const broken = Promise.withResolvers<never>()
  // Avoids an unhandled rejection before the caller attaches its handler.
  broken.promise.catch(() => undefined)

  const tryOpen = async ({ network, open }: ConfiguredNetwork): Promise<boolean> => {
    try {
      const treasury = await open()
      log.info({ network, treasury }, 'network is open')
      return true
    } catch (error) {
      if (!(error instanceof ApiError && error.kind === 'unavailable')) throw error
      return false
    }
  }
  const retryUntilOpen = async (network: ConfiguredNetwork) => {
    while (!stop.signal.aborted) {
      await pause(RETRY_MS, undefined, { signal: stop.signal })
      if (await tryOpen(network)) return
    }
  }
  const openOrRetry = async (network: ConfiguredNetwork) => {
    if (await tryOpen(network)) return
    log.warn({ network: network.network }, 'network is not used until its nodes can be reached')
    retryUntilOpen(network).catch((error) => stop.signal.aborted || broken.reject(error))
  }
  await Promise.all(networks.map(openOrRetry))
  return { broken: broken.promise, stop: () => stop.abort() }
}

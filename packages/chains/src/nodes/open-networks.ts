import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'

interface OpenLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/** A network that has settings: `open` resolves once its nodes are known to be on the right chain, with its treasury. */
export interface Candidate {
  readonly network: Network
  open(): Promise<string>
}

const PAUSE_MS = 1_000

/**
 * Opens the networks that have settings. A node of another chain stops the process, whenever it is found; a network
 * that cannot be reached is not used until it was checked, and keeps nobody else from working.
 */
export async function openNetworks(candidates: readonly Candidate[], log: OpenLog) {
  const stop = new AbortController()
  const broken = Promise.withResolvers<never>()
  // Whoever starts the process listens a moment later.
  broken.promise.catch(() => undefined)

  const tryOne = async ({ network, open }: Candidate): Promise<boolean> => {
    try {
      const treasury = await open()
      log.info({ network, treasury }, 'network is open')
      return true
    } catch (error) {
      if (!(error instanceof ApiError && error.kind === 'unavailable')) throw error
      return false
    }
  }
  const keepTrying = async (candidate: Candidate) => {
    while (!stop.signal.aborted) {
      await pause(PAUSE_MS, undefined, { signal: stop.signal })
      if (await tryOne(candidate)) return
    }
  }
  const begin = async (candidate: Candidate) => {
    if (await tryOne(candidate)) return
    log.warn({ network: candidate.network }, 'not used until its nodes answer')
    keepTrying(candidate).catch((error) => stop.signal.aborted || broken.reject(error))
  }
  await Promise.all(candidates.map(begin))
  return { broken: broken.promise, stop: () => stop.abort() }
}

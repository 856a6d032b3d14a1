import type { LimitResult, LimitRule } from '@market/core/ports/limiter'

interface Window {
  count: number
  endsAtMs: number
}

const SWEEP_EVERY_MS = 1_000

/** Windows counted in this process while Redis is unavailable. */
export interface LocalWindows {
  take(key: string, rule: LimitRule, cost?: number): LimitResult
  /** Records the count of Redis, so that the local count continues from it. */
  remember(key: string, count: number, resetsInMs: number): void
  readonly size: number
}

export function localWindows(capacity: number, nowMs: () => number = () => performance.now()): LocalWindows {
  const windows = new Map<string, Window>()
  let sweptAtMs = Number.NEGATIVE_INFINITY

  /** A full sweep costs milliseconds, so it runs rarely. Between sweeps the oldest window is deleted. */
  function makeRoom(now: number): void {
    if (windows.size < capacity) return
    if (now - sweptAtMs >= SWEEP_EVERY_MS) {
      sweptAtMs = now
      for (const [key, window] of windows) if (window.endsAtMs <= now) windows.delete(key)
    }
    for (const oldest of windows.keys()) {
      if (windows.size < capacity) return
      windows.delete(oldest)
    }
  }

  function openWindow(key: string, now: number, window: Window): Window {
    // Deleting first keeps the map in the order in which the windows started.
    windows.delete(key)
    makeRoom(now)
    windows.set(key, window)
    return window
  }

  function liveWindow(key: string, now: number): Window | undefined {
    const window = windows.get(key)
    return window !== undefined && window.endsAtMs > now ? window : undefined
  }

  return {
    take(key, rule, cost = 1) {
      const now = nowMs()
      const window =
        liveWindow(key, now) ?? openWindow(key, now, { count: 0, endsAtMs: now + rule.windowSeconds * 1_000 })
      window.count += cost
      return takenOf(rule, window.count, window.endsAtMs - now)
    },

    remember(key, count, resetsInMs) {
      const now = nowMs()
      const window = liveWindow(key, now)
      if (window === undefined) {
        openWindow(key, now, { count, endsAtMs: now + resetsInMs })
        return
      }
      // After a restart Redis may be empty. The local count must not decrease.
      window.count = Math.max(window.count, count)
      window.endsAtMs = now + resetsInMs
    },

    get size() {
      return windows.size
    },
  }
}

export function takenOf(rule: LimitRule, count: number, resetsInMs: number): LimitResult {
  return {
    allowed: count <= rule.max,
    remaining: Math.max(0, rule.max - count),
    resetsInMs: Math.max(1, Math.ceil(resetsInMs)),
  }
}

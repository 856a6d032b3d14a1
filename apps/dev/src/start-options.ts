import type { Cleanup } from './cleanup.ts'

export interface StartOptions {
  readonly cleanup: Cleanup
  /** Aborted when the run is stopped before everything is up. */
  readonly signal: AbortSignal
  /** Called when a part ends without being stopped. */
  readonly onExit: (name: string, lastLines?: string) => void
  readonly onLine: (line: string) => void
  /** What is being started, for a person who waits. */
  readonly onProgress: (line: string) => void
  /** What a user must know, with `--json` too. */
  readonly onNotice: (line: string) => void
}

export interface RunningTraces {
  /** Sends the remaining spans and stops. */
  stop(): Promise<void>
}

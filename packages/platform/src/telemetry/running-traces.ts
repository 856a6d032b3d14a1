export interface RunningTraces {
  /** Sends what is left and ends. */
  stop(): Promise<void>
}

export interface Closing {
  /** To be done when all ends, before everything that was noted earlier. */
  note(what: string, step: () => unknown): void
  /** Does every step, whatever the others did, and says which failed. */
  close(): Promise<string[]>
}

/** Remembers how to undo what was started, so that a start that fails halfway is undone just as well. */
export function closing(): Closing {
  const steps: { what: string; step: () => unknown }[] = []
  return {
    note: (what, step) => void steps.push({ what, step }),
    close: async () => {
      const failed: string[] = []
      for (let next = steps.pop(); next !== undefined; next = steps.pop()) {
        try {
          await next.step()
        } catch (error) {
          failed.push(`${next.what}: ${error instanceof Error ? error.message : String(error)}`)
        }
      }
      return failed
    },
  }
}

export interface Cleanup {
  /** Adds a step. The steps run in reverse order. */
  add(name: string, step: () => unknown): void
  /** Runs every step, also when others fail, and returns the messages of the failed ones. */
  run(): Promise<string[]>
}

/** Collects the cleanup steps while parts start, so that a start that fails halfway is cleaned up too. */
export function createCleanup(): Cleanup {
  const steps: { name: string; step: () => unknown }[] = []
  return {
    add: (name, step) => void steps.push({ name, step }),
    run: async () => {
      const failed: string[] = []
      for (let next = steps.pop(); next !== undefined; next = steps.pop()) {
        try {
          await next.step()
        } catch (error) {
          failed.push(`${next.name}: ${error instanceof Error ? error.message : String(error)}`)
        }
      }
      return failed
    },
  }
}

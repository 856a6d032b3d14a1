import { useState } from 'react'

/** Runs one request at a time, and has its failure. */
export function useRun() {
  const [isRunning, setRunning] = useState(false)
  const [error, setError] = useState<unknown>(undefined)
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    setRunning(true)
    setError(undefined)
    try {
      await work()
      return true
    } catch (thrown) {
      setError(thrown)
      return false
    } finally {
      setRunning(false)
    }
  }
  return { isRunning, error, run }
}

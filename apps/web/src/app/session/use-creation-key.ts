import { MarketError } from '@market/sdk/client'
import { useRef } from 'react'

/**
 * Runs a request that creates something with an idempotency key. A repetition after a lost response returns what was
 * created; after a rejection the next request has other fields, and another key.
 */
export function useCreationKey() {
  const key = useRef(crypto.randomUUID())
  return async <Result>(create: (idempotencyKey: string) => Promise<Result>): Promise<Result> => {
    try {
      return await create(key.current)
    } catch (thrown) {
      if (thrown instanceof MarketError && thrown.status >= 400 && thrown.status < 500)
        key.current = crypto.randomUUID()
      throw thrown
    }
  }
}

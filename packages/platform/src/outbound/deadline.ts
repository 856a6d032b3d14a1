import { OutboundFailure } from '@market/core/ports/outbound'

/** Limits the total time of `work`. The signal aborts its sockets. */
export const withDeadline = async <T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const failure = new OutboundFailure('timeout', `No whole answer within ${ms} ms.`)
    reject(failure)
    controller.abort(failure)
  }, ms)
  try {
    return await Promise.race([work(controller.signal), late])
  } finally {
    clearTimeout(timer)
  }
}

import { type Outbound, OutboundFailure, type OutboundResponse } from '@market/core/ports/outbound'
import { ApiError } from '@market/kernel/api-error'
import { type ConnectSettings, connectChecked, serverOf, trusting } from './connect.ts'
import { withDeadline } from './deadline.ts'
import { exchange, type RequestWithMethod } from './exchange.ts'
import { idleConnections } from './idle-connections.ts'
import { hostOf, notPublic, readPublicUrl } from './public-url.ts'
import { type HostResolver, resolvePublic, systemResolver } from './resolve.ts'
import { tlsSessions } from './tls-sessions.ts'

const CHECK_MS = 3_000
const MAX_ANSWER_BYTES = 64 * 1024

export interface GuardedOutboundSettings {
  readonly resolver?: HostResolver
  /** Trusted certificate authority instead of the system's roots. */
  readonly ca?: string
  readonly maxAnswerBytes?: number
  /**
   * For tests: maps a checked address to the address to connect to, so that a loopback server can replace a public one. It
   * runs after the checks and cannot bypass them.
   */
  readonly connectTo?: NonNullable<ConnectSettings['connectTo']>
}

const asForbidden = (text: string): URL => {
  try {
    return readPublicUrl(text)
  } catch (error) {
    if (error instanceof ApiError) throw new OutboundFailure('forbidden', error.message)
    throw error
  }
}

const asApiError = (failure: OutboundFailure): ApiError =>
  failure.kind === 'forbidden'
    ? notPublic('The host must lead to public internet addresses only.')
    : new ApiError('invalid', 'The host name could not be resolved.', { code: 'endpoint_not_resolved' })

export const guardedOutbound = (settings: GuardedOutboundSettings = {}): Outbound => {
  const { resolver = systemResolver, maxAnswerBytes = MAX_ANSWER_BYTES, ca, ...rest } = settings
  const connecting = { ...rest, trust: trusting(ca), sessions: tlsSessions() }
  const idle = idleConnections()

  const send = async (request: RequestWithMethod): Promise<OutboundResponse> => {
    const endsAt = performance.now() + request.timeoutMs
    const url = asForbidden(request.url)
    const host = hostOf(url)
    const { connection, answer, idleMs } = await withDeadline(request.timeoutMs, async (signal) => {
      const addresses = await resolvePublic(host, resolver)
      // The request may have timed out meanwhile. Then nothing may be sent.
      signal.throwIfAborted()
      const target = { host, port: url.port === '' ? 443 : Number(url.port), addresses }
      const connection =
        idle.take(serverOf(target), addresses) ?? (await connectChecked(target, connecting, endsAt, signal))
      const close = () => connection.secure.destroy()
      signal.addEventListener('abort', close, { once: true })
      try {
        return { connection, ...(await exchange(connection.secure, url, request, maxAnswerBytes)) }
      } catch (error) {
        close()
        idle.close(connection.server)
        throw error
      } finally {
        signal.removeEventListener('abort', close)
      }
    })
    // The response is there, so the deadline does not end this wait.
    idle.put(connection, await idleMs)
    return answer
  }

  return {
    checkUrl: async (text) => {
      const host = hostOf(readPublicUrl(text))
      try {
        await withDeadline(CHECK_MS, () => resolvePublic(host, resolver))
      } catch (error) {
        throw error instanceof OutboundFailure ? asApiError(error) : error
      }
    },
    post: (request) => send({ ...request, method: 'POST' }),
    get: (request) => send({ ...request, method: 'GET', body: '' }),
  }
}

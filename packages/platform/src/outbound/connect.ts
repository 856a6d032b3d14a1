import { once } from 'node:events'
import { connect as connectTcp, isIP, isIPv4, type Socket } from 'node:net'
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls'
import { OutboundFailure } from '@market/core/ports/outbound'
import { withDeadline } from './deadline.ts'
import type { Connection } from './idle-connections.ts'
import type { TlsSessions } from './tls-sessions.ts'

export interface Target {
  /** The name that the certificate must be valid for. */
  readonly host: string
  readonly port: number
  /** Already checked. The name is not resolved again. */
  readonly addresses: readonly string[]
}

export interface ConnectSettings {
  readonly trust: SecureContext
  readonly sessions: TlsSessions
  readonly connectTo?: (address: string, port: number) => { readonly host: string; readonly port: number }
}

const MOST_ATTEMPTS = 4

/** The given certificate authority or the system's roots. Created once, because it is expensive. */
export const trusting = (ca: string | undefined): SecureContext =>
  createSecureContext({ ...(ca === undefined ? {} : { ca }), minVersion: 'TLSv1.2' })

const failed = (kind: 'connect' | 'tls', message: string, cause: unknown): OutboundFailure => {
  const failure = new OutboundFailure(kind, message)
  failure.cause = cause
  return failure
}

/** Prevents an uncaught exception for an error while no other listener is attached. */
const silenced = <S extends Socket>(socket: S): S => socket.on('error', () => {})

const dial = async (host: string, port: number, signal: AbortSignal): Promise<Socket> => {
  signal.throwIfAborted()
  const socket = silenced(connectTcp({ host, port, noDelay: true }))
  try {
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** Tries IPv4 first and divides the remaining time among the addresses, so that one unreachable address does not use all of it. */
const dialFirst = async (
  target: Target,
  settings: ConnectSettings,
  endsAt: number,
  signal: AbortSignal,
): Promise<{ socket: Socket; address: string }> => {
  const ordered = target.addresses.toSorted((a, b) => Number(isIPv4(b)) - Number(isIPv4(a)))
  const attempts = ordered.slice(0, MOST_ATTEMPTS)
  let last: unknown
  for (const [index, address] of attempts.entries()) {
    const { host, port } = settings.connectTo?.(address, target.port) ?? { host: address, port: target.port }
    const share = Math.max(1, Math.round((endsAt - performance.now()) / (attempts.length - index)))
    try {
      const socket = await withDeadline(share, (own) => dial(host, port, AbortSignal.any([own, signal])))
      return { socket, address }
    } catch (error) {
      signal.throwIfAborted()
      last = error
    }
  }
  if (last instanceof OutboundFailure) throw last
  throw failed('connect', `No connection to ${target.host}.`, last)
}

/** Names the server in the session cache and among the idle connections: the certificate is checked for this host. */
export const serverOf = ({ host, port }: Pick<Target, 'host' | 'port'>): string => `${host}:${port}`

export const connectChecked = async (
  target: Target,
  settings: ConnectSettings,
  endsAt: number,
  signal: AbortSignal,
): Promise<Connection> => {
  const { socket, address } = await dialFirst(target, settings, endsAt, signal)
  const { sessions } = settings
  const server = serverOf(target)
  const session = sessions.find(server)
  const secure = silenced(
    connectTls({
      socket,
      host: target.host,
      ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
      secureContext: settings.trust,
      ...(session === undefined ? {} : { session: session.ticket }),
      ALPNProtocols: ['http/1.1'],
      // Set explicitly, so that no environment variable can turn the check off.
      rejectUnauthorized: true,
    }),
  )
  const openedAt = performance.now()
  secure.on('session', (ticket) => {
    if (!secure.authorized) return
    // A resumed session does not check the certificate again.
    const verifiedAt = secure.isSessionReused() ? (session?.verifiedAt ?? 0) : openedAt
    sessions.save(server, { ticket, verifiedAt })
  })
  try {
    await once(secure, 'secureConnect', { signal })
    return { secure, server, address, openedAt }
  } catch (error) {
    secure.destroy()
    socket.destroy()
    // If the server rejected the session, the next attempt makes a full handshake.
    sessions.forget(server)
    signal.throwIfAborted()
    throw failed('tls', `No trusted TLS session with ${target.host}.`, error)
  }
}

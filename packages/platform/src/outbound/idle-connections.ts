import type { TLSSocket } from 'node:tls'

/** A connection older than this is closed after its request, so that a new certificate is noticed. */
const MAX_AGE_MS = 60_000
/**
 * Of all servers together; the one that was idle longest is closed first. More than the 800 requests that a worker sends at
 * once (100 jobs with 8 deliveries each): otherwise a round over all endpoints would close each connection before its turn.
 */
// fix: idle-connections
const MAX_IDLE = 1_024
const ENDINGS = ['data', 'end', 'close'] as const

export interface Connection {
  readonly secure: TLSSocket
  /** Host name and port that the certificate was checked for. */
  readonly server: string
  /** The public address that was dialled. */
  readonly address: string
  /** On the `performance.now()` clock. */
  readonly openedAt: number
}

export interface IdleConnections {
  /** An open connection to this server at one of these addresses. The caller has just checked the addresses. */
  take(server: string, addresses: readonly string[]): Connection | undefined
  /** Keeps the connection open for the next request, at most `idleMs`. */
  put(connection: Connection, idleMs: number): void
  /** Closes what is open to this server: one connection failed, so the others may be broken too. */
  close(server: string): void
}

/**
 * Connections that wait for the next request. One that the server closes, or on which it sends data that nobody asked
 * for, is removed.
 */
export const idleConnections = (): IdleConnections => {
  const idle = new Map<Connection, () => void>()
  const remove = (connection: Connection): Connection => {
    idle.get(connection)?.()
    idle.delete(connection)
    return connection
  }
  const closeOne = (connection: Connection) => void remove(connection).secure.destroy()
  return {
    take: (server, addresses) => {
      for (const connection of idle.keys())
        if (connection.server === server && addresses.includes(connection.address)) return remove(connection)
      return undefined
    },
    put: (connection, idleMs) => {
      const { secure, openedAt } = connection
      if (idleMs <= 0 || secure.destroyed || performance.now() - openedAt > MAX_AGE_MS) {
        secure.destroy()
        return
      }
      const close = () => closeOne(connection)
      const timer = setTimeout(close, idleMs).unref()
      for (const event of ENDINGS) secure.on(event, close)
      secure.unref()
      idle.set(connection, () => {
        clearTimeout(timer)
        for (const event of ENDINGS) secure.off(event, close)
        secure.ref()
      })
      const [oldest] = idle.keys()
      if (idle.size > MAX_IDLE && oldest !== undefined) closeOne(oldest)
    },
    close: (server) => {
      for (const connection of [...idle.keys()]) if (connection.server === server) closeOne(connection)
    },
  }
}

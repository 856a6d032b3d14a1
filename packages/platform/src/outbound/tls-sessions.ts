/** After this long the server shows its certificate again, so that one that expired or was replaced is noticed. */
const MAX_AGE_MS = 10 * 60_000
const MAX_SESSIONS = 1_000

export interface TlsSession {
  readonly ticket: Buffer
  /** When the certificate was last checked, on the `performance.now()` clock. */
  readonly verifiedAt: number
}

export interface TlsSessions {
  find(server: string): TlsSession | undefined
  save(server: string, session: TlsSession): void
  forget(server: string): void
}

/**
 * The newest TLS session of each server. Node does not check the certificate of a resumed session again, so `server`
 * must contain the host name and only sessions of verified connections may be saved.
 */
export const tlsSessions = (): TlsSessions => {
  const sessions = new Map<string, TlsSession>()
  return {
    find: (server) => {
      const session = sessions.get(server)
      if (session === undefined || performance.now() - session.verifiedAt < MAX_AGE_MS) return session
      sessions.delete(server)
      return undefined
    },
    save: (server, session) => {
      sessions.delete(server)
      sessions.set(server, session)
      const [oldest] = sessions.keys()
      if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest)
    },
    forget: (server) => void sessions.delete(server),
  }
}

import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { rawResponse } from './client-error.ts'

/**
 * Requests of one connection without a complete response. Node parses everything that one packet contains before any
 * response is sent. Its own `maxRequestsPerSocket` responds to every further request and ignores HTTP/1.0.
 */
const MAX_PIPELINED = 16
/** For a response that was written completely, until the client has read it. */
const UNREAD_MS = 30_000
const CHECK_EVERY_MS = 1_000

export interface ConnectionSettings {
  /** The address under which a peer's connections are counted; undefined for peers without a limit. */
  readonly addressOfPeer: (peer: string) => string | undefined
  readonly maxPerAddress: number
  readonly onRejected: (reason: 'connections' | 'pipelined' | 'unread') => void
}

export interface Connections {
  /** Whether the connection may have one more request. Otherwise it was closed, and nothing must be done for it. */
  accept(socket: Socket, response: ServerResponse): boolean
}

interface Connection {
  /** Responses that were not sent completely, in the order of their requests. */
  readonly unsent: Set<ServerResponse>
  /** The first of them, if it was written completely, and since when. */
  unread?: { readonly response: ServerResponse; readonly since: number }
}

/** Limits the connections of an address, and closes those that send many requests at once or do not read responses. */
export function limitConnections(server: Server, settings: ConnectionSettings): Connections {
  const { addressOfPeer, maxPerAddress, onRejected } = settings
  const open = new Map<Socket, Connection>()
  const counts = new Map<string, number>()

  server.on('connection', (socket) => {
    const address = addressOfPeer(socket.remoteAddress ?? '')
    const count = address === undefined ? 0 : (counts.get(address) ?? 0)
    if (count >= maxPerAddress) {
      onRejected('connections')
      socket.write(tooMany(maxPerAddress))
      return socket.destroySoon()
    }
    open.set(socket, { unsent: new Set() })
    if (address !== undefined) counts.set(address, count + 1)
    return socket.once('close', () => {
      open.delete(socket)
      if (address === undefined) return
      const left = (counts.get(address) ?? 1) - 1
      if (left === 0) counts.delete(address)
      else counts.set(address, left)
    })
  })

  const cut = (socket: Socket, reason: 'pipelined' | 'unread') => {
    onRejected(reason)
    socket.destroy()
  }

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, connection] of open) if (isUnread(connection, now)) cut(socket, 'unread')
  }, CHECK_EVERY_MS).unref()
  server.once('close', () => clearInterval(timer))

  return {
    accept(socket, response) {
      const connection = open.get(socket)
      // The rest of a packet whose connection was closed.
      if (connection === undefined || socket.destroyed) return false
      const { unsent } = connection
      if (unsent.size >= MAX_PIPELINED) {
        cut(socket, 'pipelined')
        return false
      }
      unsent.add(response)
      response.once('close', () => unsent.delete(response))
      return true
    },
  }
}

/** A later response waits for the first one, so only the first one shows whether the client reads. */
function isUnread(connection: Connection, now: number): boolean {
  const [response] = connection.unsent
  if (response === undefined || !response.writableEnded) {
    delete connection.unread
    return false
  }
  if (connection.unread?.response !== response) connection.unread = { response, since: now }
  return now - connection.unread.since > UNREAD_MS
}

const tooMany = (max: number): string =>
  rawResponse(
    '429 Too Many Requests',
    `Too many connections: at most ${max} per address. Close one, or send requests over the open ones.`,
    'too_many_connections',
  )

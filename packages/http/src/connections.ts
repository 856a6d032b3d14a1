import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { limitHeaders } from '@market/handlers/limit'
import { type Network, networksOf, SHARES } from '@market/handlers/networks'
import { rawResponse } from './client-error.ts'

/**
 * Requests of one connection without a complete response. Node's own `maxRequestsPerSocket` responds to every further
 * request and ignores HTTP/1.0.
 */
const MAX_PIPELINED = 16
/** Larger than most requests. */
const SLICE_BYTES = 4 * 1024
/** For a response that was written completely, until the client has read it. */
const UNREAD_MS = 30_000
const CHECK_EVERY_MS = 1_000

export interface ConnectionSettings {
  /** The address under which a peer's connections are counted; undefined for peers without a limit. */
  readonly addressOfPeer: (peer: string) => string | undefined
  readonly maxPerAddress: number
  readonly unreadMs?: number
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
  const { addressOfPeer, maxPerAddress, unreadMs = UNREAD_MS, onRejected } = settings
  const open = new Map<Socket, Connection>()
  const counts = new Map<string, number>()
  const maxOf = (kind: Network['kind']): number => maxPerAddress * SHARES.address[kind]

  server.on('connection', (socket) => {
    const address = addressOfPeer(socket.remoteAddress ?? '')
    const networks = address === undefined ? [] : networksOf(address)
    const full = networks.find(({ kind, subject }) => (counts.get(subject) ?? 0) >= maxOf(kind))
    if (full !== undefined) {
      onRejected('connections')
      socket.write(tooMany(maxOf(full.kind)))
      return socket.destroySoon()
    }
    open.set(socket, { unsent: new Set() })
    parseInSlices(socket)
    for (const { subject } of networks) counts.set(subject, (counts.get(subject) ?? 0) + 1)
    return socket.once('close', () => {
      open.delete(socket)
      for (const { subject } of networks) {
        const left = (counts.get(subject) ?? 1) - 1
        if (left === 0) counts.delete(subject)
        else counts.set(subject, left)
      }
    })
  })

  const cut = (socket: Socket, reason: 'pipelined' | 'unread') => {
    onRejected(reason)
    socket.destroy()
  }

  const timer = setInterval(() => {
    const now = performance.now()
    for (const [socket, connection] of open) if (unreadFor(connection, now) > unreadMs) cut(socket, 'unread')
  }, CHECK_EVERY_MS).unref()
  server.once('close', () => clearInterval(timer))

  return {
    accept(socket, response) {
      const connection = open.get(socket)
      // The rest of a slice whose connection was closed.
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

/**
 * Node parses up to 64 KB at a time, even when the first of its requests has closed the connection. Thousands of small
 * requests would delay everybody, so each chunk is passed on in slices until then.
 */
function parseInSlices(socket: Socket): void {
  const [parse] = socket.listeners('data')
  if (parse === undefined) return
  socket.removeListener('data', parse as (chunk: Buffer) => void)
  socket.on('data', (chunk: Buffer) => {
    for (let at = 0; at < chunk.length && !socket.destroyed; at += SLICE_BYTES) {
      // The parser accepts nothing while responses wait for the client. The rest is read again after that.
      if (socket.isPaused()) return void socket.unshift(chunk.subarray(at))
      parse(chunk.subarray(at, at + SLICE_BYTES))
    }
  })
}

/** A later response waits for the first one, so only the first one shows whether the client reads. */
function unreadFor(connection: Connection, now: number): number {
  const [response] = connection.unsent
  if (response === undefined || !response.writableEnded) {
    delete connection.unread
    return 0
  }
  if (connection.unread?.response !== response) connection.unread = { response, since: now }
  return now - connection.unread.since
}

/** A connection may end at any time, so the client tries again soon. */
const RETRY_SECONDS = 1

const tooMany = (max: number): string =>
  rawResponse(
    '429 Too Many Requests',
    `Too many connections: at most ${max} per address or network. Close one, or send requests over the open ones.`,
    'too_many_connections',
    {
      'Retry-After': String(RETRY_SECONDS),
      ...limitHeaders({ max, remaining: 0, resetsAt: new Date(Date.now() + RETRY_SECONDS * 1_000) }),
    },
  )

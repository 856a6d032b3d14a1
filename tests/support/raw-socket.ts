import { connect, type Socket } from 'node:net'

/** Connects from this address, such as 127.0.0.2, which is not a trusted proxy of the tests. */
export const connectFrom = (localAddress: string, url: string): Socket => {
  const { hostname, port } = new URL(url)
  return connect({ host: hostname, port: Number(port), localAddress })
}

/**
 * Sends raw bytes and returns everything received until the server closed or was idle for `quietMs`. A server that closes may
 * need long on a busy machine; where it keeps the connection open, pass less.
 */
export function exchange(
  url: string,
  bytes: string | Buffer,
  { quietMs = 60_000, from = '127.0.0.1' } = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connectFrom(from, url)
    const chunks: Buffer[] = []
    const finish = () => {
      socket.destroy()
      resolve(Buffer.concat(chunks).toString('latin1'))
    }
    socket.setTimeout(quietMs, finish)
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', finish)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      // The server may close while we still write; use what was received before.
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') finish()
      else reject(error)
    })
    socket.write(bytes)
  })
}

/** The status codes of the received responses. */
export const statusesIn = (received: string): number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

import { connect, type Socket } from 'node:net'
import { someAddress } from '../support/client.ts'
import { FORM_END, PNG, partHead, requestHead } from '../support/uploads.ts'

const CHUNK = Buffer.alloc(64 * 1024)

export interface RawUpload {
  readonly socket: Socket
  /** Writes this many bytes of the file, as fast as the server reads; false when the connection ended before. */
  send(bytes: number): Promise<boolean>
  /** Ends the form. */
  finish(): void
  /** Everything received, when the server has ended the connection. */
  readonly received: Promise<string>
  /** Everything received so far. */
  text(): string
}

/** A PNG that is sent in pieces over a plain connection, of a size that nobody announces. */
export function rawUpload(url: string, apiKey: string): RawUpload {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const chunks: Buffer[] = []
  const text = () => Buffer.concat(chunks).toString()
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => {})
  let wake = () => {}
  for (const event of ['drain', 'data', 'close']) socket.on(event, () => wake())
  const moves = () =>
    new Promise<void>((resolve) => {
      wake = resolve
    })
  const received = new Promise<string>((resolve) => socket.once('close', () => resolve(text())))
  const chunked = (part: string | Buffer) => {
    socket.write(`${Buffer.byteLength(part).toString(16)}\r\n`)
    socket.write(part)
    return socket.write('\r\n')
  }
  const isOver = () => socket.destroyed || chunks.length > 0
  socket.write(requestHead(apiKey, 'chunked', someAddress()))
  chunked(partHead('large.png'))
  chunked(PNG)
  return {
    socket,
    received,
    text,
    async send(bytes) {
      for (let sent = 0; sent < bytes; sent += CHUNK.length) {
        if (isOver()) return false
        if (!chunked(CHUNK)) await moves()
      }
      return !isOver()
    },
    finish() {
      chunked(FORM_END)
      socket.write('0\r\n\r\n')
    },
  }
}

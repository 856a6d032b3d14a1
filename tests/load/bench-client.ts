import { connect } from 'node:net'

interface Settings {
  readonly port: number
  readonly path: string
  readonly status: number
  readonly bearers: readonly string[]
  readonly connections: number
  readonly seconds: number
}

/** Requests one path over kept-alive connections for some seconds; does as little as it can, so that the server is the limit. */
const { port, path, status, bearers, connections, seconds } = JSON.parse(process.argv[2] ?? '{}') as Settings

const HEAD_END = '\r\n\r\n'
const endsAt = performance.now() + seconds * 1_000
let answered = 0
let rejected = 0
let sent = 0

/** A fresh address each time: counting the rate limit is part of the work, being rejected is not. */
function request(): string {
  const number = sent++
  const address = `198.${18 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}`
  const bearer = bearers[number % bearers.length]
  const authorization = bearer === undefined ? '' : `\r\nAuthorization: Bearer ${bearer}`
  return `GET ${path} HTTP/1.1\r\nHost: market.test${authorization}\r\nX-Forwarded-For: ${address}${HEAD_END}`
}

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true })
    let received = ''
    socket.setEncoding('latin1')
    socket.on('connect', () => socket.write(request()))
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', (chunk: string) => {
      received += chunk
      const head = received.indexOf(HEAD_END)
      if (head === -1) return
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
      if (received.length < head + HEAD_END.length + length) return
      if (received.startsWith(`HTTP/1.1 ${status}`)) answered++
      else rejected++
      received = ''
      if (performance.now() < endsAt) socket.write(request())
      else socket.end()
    })
  })
}

const startedAt = performance.now()
await Promise.all(Array.from({ length: connections }, run))
console.log(JSON.stringify({ answered, rejected, seconds: (performance.now() - startedAt) / 1_000 }))

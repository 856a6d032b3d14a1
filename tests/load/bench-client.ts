import { connect } from 'node:net'

/** One request of the load: a POST when it has a body. */
export interface BenchRequest {
  readonly path: string
  readonly bearer?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Settings {
  readonly port: number
  readonly status: number
  readonly requests: readonly BenchRequest[]
  readonly connections: number
  readonly seconds: number
}

/** Sends the requests in turn over kept-alive connections for some seconds; does as little as it can, so that the server is the limit. */
const { port, status, requests, connections, seconds } = JSON.parse(process.argv[2] ?? '{}') as Settings

const HEAD_END = '\r\n\r\n'
const LAST_CHUNK = '\r\n0\r\n\r\n'
const texts = requests.map(({ path, bearer, body, headers = {} }) => {
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
    ...(body !== undefined && {
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
    }),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return {
    head: `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1\r\n${lines.join('')}`,
    body: body ?? '',
  }
})
const endsAt = performance.now() + seconds * 1_000
let answered = 0
let rejected = 0
let sent = 0

/** A fresh address each time: counting the rate limit is part of the work, being rejected is not. */
function request(): string {
  const number = sent++
  const address = `198.${18 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}`
  const { head = '', body = '' } = texts[number % texts.length] ?? {}
  return `${head}X-Forwarded-For: ${address}${HEAD_END}${body}`
}

function isWhole(received: string, head: number): boolean {
  const length = /content-length: (\d+)/i.exec(received)?.[1]
  if (length === undefined && /transfer-encoding: chunked/i.test(received))
    return received.endsWith(LAST_CHUNK)
  return received.length >= head + HEAD_END.length + Number(length ?? 0)
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
      if (!isWhole(received, head)) return
      if (received.startsWith(`HTTP/1.1 ${status}`) && !received.includes('"isError":true')) answered++
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

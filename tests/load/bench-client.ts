import { connect } from 'node:net'

/** Asks one path over kept-alive connections for some seconds; counts as little as it can, so that the server is the limit. */
const [port = '', bearer = '', seconds = '3', connections = '16', path = '/api/agents/me', status = '200'] =
  process.argv.slice(2)

const HEAD_END = '\r\n\r\n'
const endsAt = performance.now() + Number(seconds) * 1_000
let answered = 0
let refused = 0
let asked = 0

/** A fresh address each time: the rate limit is part of the work, being refused is not. */
function request(): string {
  const number = asked++
  const address = `198.${18 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}`
  const shown = bearer === '' ? '' : `\r\nAuthorization: Bearer ${bearer}`
  return `GET ${path} HTTP/1.1\r\nHost: market.test${shown}\r\nX-Forwarded-For: ${address}${HEAD_END}`
}

function run(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), noDelay: true })
    let heard = ''
    socket.setEncoding('latin1')
    socket.on('connect', () => socket.write(request()))
    socket.on('error', reject)
    socket.on('close', () => resolve())
    socket.on('data', (chunk: string) => {
      heard += chunk
      const head = heard.indexOf(HEAD_END)
      if (head === -1) return
      const length = Number(/content-length: (\d+)/i.exec(heard)?.[1] ?? 0)
      if (heard.length < head + HEAD_END.length + length) return
      if (heard.startsWith(`HTTP/1.1 ${status}`)) answered++
      else refused++
      heard = ''
      if (performance.now() < endsAt) socket.write(request())
      else socket.end()
    })
  })
}

const began = performance.now()
await Promise.all(Array.from({ length: Number(connections) }, run))
console.log(JSON.stringify({ answered, refused, seconds: (performance.now() - began) / 1_000 }))

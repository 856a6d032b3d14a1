import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** Addresses of both families. `failing` returns SERVFAIL, `silent` does not respond. */
export type DnsAnswer = readonly string[] | 'failing' | 'silent'

export interface TestDnsServer {
  readonly port: number
  /** Records by lower-case name. Changes apply to the next query. A missing name is NXDOMAIN. */
  readonly answers: Map<string, DnsAnswer>
  /** All queries, such as `A hook.example`. */
  readonly questions: readonly string[]
  /** Queries this server over UDP for both families. */
  readonly resolver: { resolve(host: string): Promise<string[]> }
  stop(): Promise<void>
}

const HEADER_BYTES = 12
const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
])
const SERVER_FAILURE = 2
const NO_SUCH_NAME = 3

const bytesOfV6 = (address: string): number[] => {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const before = groups(head)
  const after = groups(tail ?? '')
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
}

const readQuestion = (message: Buffer) => {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const end = at + 5
  return {
    name: labels.join('.').toLowerCase(),
    type: TYPES.get(message.readUInt16BE(at + 1)) ?? 'other',
    bytes: message.subarray(HEADER_BYTES, end),
  }
}

/** A pointer to the question's name, the type, class IN, a lifetime of zero, then the address. */
const recordOf = (address: string): Buffer => {
  const v4 = isIPv4(address)
  const bytes = v4 ? address.split('.').map(Number) : bytesOfV6(address)
  return Buffer.from([0xc0, HEADER_BYTES, 0, v4 ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, bytes.length, ...bytes])
}

const replyTo = (message: Buffer, question: Buffer, code: number, records: readonly Buffer[]): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES)
  message.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8580 | code, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, question, ...records])
}

const resolverAt = (port: number) => {
  const client = new Resolver({ timeout: 1_000, tries: 1 })
  client.setServers([`127.0.0.1:${port}`])
  const resolve = async (host: string): Promise<string[]> => {
    const [v4, v6] = await Promise.allSettled([client.resolve4(host), client.resolve6(host)])
    if (v4.status === 'rejected' && v6.status === 'rejected') throw v4.reason
    return [v4, v6].flatMap((family) => (family.status === 'fulfilled' ? family.value : []))
  }
  return { resolve, cancel: () => client.cancel() }
}

export const startDnsServer = async (
  table: Readonly<Record<string, DnsAnswer>> = {},
): Promise<TestDnsServer> => {
  const answers = new Map(Object.entries(table))
  const questions: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const { name, type, bytes } = readQuestion(message)
    questions.push(`${type} ${name}`)
    const answer = answers.get(name)
    if (answer === 'silent') return
    const code = answer === undefined ? NO_SUCH_NAME : answer === 'failing' ? SERVER_FAILURE : 0
    const addresses = answer === undefined || answer === 'failing' ? [] : answer
    const asked = addresses.filter((address) => type === (isIPv4(address) ? 'A' : 'AAAA'))
    socket.send(replyTo(message, bytes, code, asked.map(recordOf)), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  const { resolve, cancel } = resolverAt(port)
  return {
    port,
    answers,
    questions,
    resolver: { resolve },
    stop: async () => {
      cancel()
      socket.close()
      await once(socket, 'close')
    },
  }
}

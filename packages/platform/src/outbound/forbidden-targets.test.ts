import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Refusal } from '@market/kernel/refusal'
import { OutboundFailure } from '@market/market/ports/outbound'
import { startDnsServer, type TestDnsServer } from '@market/testing/dns-server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardedOutbound } from './guarded-outbound.ts'

const FORMS: readonly (readonly [form: string, url: string])[] = [
  ['loopback', 'https://127.0.0.1/'],
  ['loopback at its far end', 'https://127.255.255.254/'],
  ['loopback as one decimal', 'https://2130706433/'],
  ['loopback as one hex', 'https://0x7f000001/'],
  ['loopback as one octal', 'https://017700000001/'],
  ['loopback with an octal part', 'https://0177.0.0.1/'],
  ['loopback with padded octal parts', 'https://0000177.0000.0000.0001/'],
  ['loopback with a hex part', 'https://0x7f.0x0.0x0.0x1/'],
  ['loopback in two parts', 'https://127.1/'],
  ['loopback in three parts', 'https://127.0.1/'],
  ['loopback in mixed bases', 'https://0x7f.1/'],
  ['loopback with a trailing dot', 'https://127.0.0.1./'],
  ['loopback in fullwidth digits', 'https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/'],
  ['loopback in circled digits', 'https://\u2460\u2461\u2466.\u24ea.\u24ea.\u2460/'],
  ['loopback with ideographic full stops', 'https://127\u30020\u30020\u30021/'],
  ['loopback with halfwidth ideographic full stops', 'https://127\uff610\uff610\uff611/'],
  ['loopback with fullwidth full stops', 'https://127\uff0e0\uff0e0\uff0e1/'],
  ['loopback percent-encoded', 'https://%31%32%37.0.0.1/'],
  ['loopback with a soft hyphen', 'https://12\u00ad7.0.0.1/'],
  ['any address', 'https://0.0.0.0/'],
  ['any address as zero', 'https://0/'],
  ['this network', 'https://0.1.2.3/'],
  ['private 10', 'https://10.0.0.1/'],
  ['private 10 as decimal', 'https://167772161/'],
  ['private 172.16', 'https://172.16.0.1/'],
  ['private 172.31', 'https://172.31.255.255/'],
  ['private 192.168', 'https://192.168.1.1/'],
  ['carrier-grade NAT', 'https://100.64.0.1/'],
  ['metadata in carrier-grade NAT', 'https://100.100.100.200/'],
  ['link-local', 'https://169.254.1.1/'],
  ['metadata', 'https://169.254.169.254/latest/meta-data/'],
  ['metadata as decimal', 'https://2852039166/'],
  ['metadata as hex', 'https://0xa9fea9fe/'],
  ['metadata for containers', 'https://169.254.170.2/'],
  ['metadata by an ordinary-looking address', 'https://168.63.129.16/'],
  ['metadata by name', 'https://metadata.google.internal/'],
  ['metadata over IPv6', 'https://[fd00:ec2::254]/'],
  ['protocol assignments', 'https://192.0.0.1/'],
  ['documentation 1', 'https://192.0.2.1/'],
  ['documentation 2', 'https://198.51.100.1/'],
  ['documentation 3', 'https://203.0.113.1/'],
  ['6to4 relay', 'https://192.88.99.1/'],
  ['benchmark', 'https://198.18.0.1/'],
  ['multicast', 'https://224.0.0.1/'],
  ['reserved', 'https://240.0.0.1/'],
  ['broadcast', 'https://255.255.255.255/'],
  ['v6 loopback', 'https://[::1]/'],
  ['v6 loopback written out', 'https://[0:0:0:0:0:0:0:1]/'],
  ['v6 any', 'https://[::]/'],
  ['mapped loopback', 'https://[::ffff:127.0.0.1]/'],
  ['mapped loopback in hex', 'https://[::ffff:7f00:1]/'],
  ['mapped private', 'https://[::ffff:10.0.0.1]/'],
  ['mapped metadata', 'https://[::ffff:169.254.169.254]/'],
  ['mapped public', 'https://[::ffff:93.184.216.34]/'],
  ['translated loopback', 'https://[::ffff:0:127.0.0.1]/'],
  ['compatible loopback', 'https://[::127.0.0.1]/'],
  ['compatible loopback in hex', 'https://[::7f00:1]/'],
  ['NAT64 loopback', 'https://[64:ff9b::7f00:1]/'],
  ['NAT64 metadata', 'https://[64:ff9b::169.254.169.254]/'],
  ['NAT64 for local use', 'https://[64:ff9b:1::1]/'],
  ['6to4 loopback', 'https://[2002:7f00:1::]/'],
  ['6to4 private', 'https://[2002:a00:1::1]/'],
  ['Teredo', 'https://[2001:0:7f00:1::1]/'],
  ['ORCHID', 'https://[2001:20::1]/'],
  ['v6 benchmark', 'https://[2001:2::1]/'],
  ['v6 documentation', 'https://[2001:db8::1]/'],
  ['v6 newer documentation', 'https://[3fff::1]/'],
  ['v6 discard', 'https://[100::1]/'],
  ['segment routing', 'https://[5f00::1]/'],
  ['unique local', 'https://[fc00::1]/'],
  ['v6 link-local', 'https://[fe80::1]/'],
  ['v6 link-local with a zone', 'https://[fe80::1%25eth0]/'],
  ['v6 site-local', 'https://[fec0::1]/'],
  ['v6 multicast', 'https://[ff02::1]/'],
  ['brackets around IPv4', 'https://[127.0.0.1]/'],
  ['brackets around a name', 'https://[good.example]/'],
  ['localhost', 'https://localhost/'],
  ['localhost in capitals', 'https://LOCALHOST/'],
  ['localhost in fullwidth letters', 'https://\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54/'],
  ['localhost with a trailing dot', 'https://localhost./'],
  ['under localhost', 'https://app.localhost/'],
  ['under local', 'https://printer.local/'],
  ['under internal', 'https://ledger.internal/'],
  ['a single label', 'https://postgres/'],
  ['a name with a trailing dot', 'https://good.example./'],
  ['user name', 'https://me@good.example/'],
  ['user name and password', 'https://me:word@good.example/'],
  ['empty user name', 'https://@good.example/'],
  ['a public name as user name of loopback', 'https://good.example@127.0.0.1/'],
  ['a backslash before loopback', 'https://good.example\\@127.0.0.1/'],
  ['another port', 'https://good.example:22/'],
  ['the port of our database', 'https://good.example:5432/'],
  ['plain http', 'http://good.example/'],
  ['plain http on 443', 'http://good.example:443/'],
  ['a file', 'file:///etc/hosts'],
  ['gopher', 'gopher://good.example/'],
  ['data', 'data:text/plain,hello'],
  ['no scheme', '//good.example/'],
  ['one slash', 'https:/127.0.0.1/'],
  ['a leading line break', '\nhttps://good.example/'],
  ['a name that leads inside by A', 'https://inside-a.example/'],
  ['a name that leads inside by AAAA', 'https://inside-aaaa.example/'],
  ['a name that leads to metadata', 'https://metadata.example/'],
  ['a name that leads to a mapped address', 'https://mapped.example/'],
  ['a name with one inside address among public ones', 'https://mixed.example/'],
  ['a name public by A and inside by AAAA', 'https://two-faced.example/'],
]

const ZONE = {
  'good.example': ['93.184.216.34'],
  'inside-a.example': ['10.1.2.3'],
  'inside-aaaa.example': ['::1'],
  'metadata.example': ['169.254.169.254'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'mixed.example': ['93.184.216.34', '1.1.1.1', '127.0.0.1'],
  'two-faced.example': ['93.184.216.34', 'fd00::1'],
}

/** Whatever passes the checks is dialled here, so a single connection means that something got through. */
const startCanary = async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { port, connections: () => connections, stop: () => once(server.close(), 'close') }
}

describe('forbidden targets', () => {
  let dns: TestDnsServer
  let canary: Awaited<ReturnType<typeof startCanary>>
  const outbound = () =>
    guardedOutbound({ resolver: dns.resolver, connectTo: () => ({ host: '127.0.0.1', port: canary.port }) })
  const post = (url: string) => outbound().post({ url, headers: {}, body: '{}', timeoutMs: 3_000 })

  beforeAll(async () => {
    dns = await startDnsServer(ZONE)
    canary = await startCanary()
  })
  afterAll(async () => {
    await dns.stop()
    await canary.stop()
  })

  test.each(FORMS)('%s is refused before any connection (%j)', async (_form, url) => {
    const before = canary.connections()
    const failure = await post(url).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(OutboundFailure)
    expect(failure).toMatchObject({ kind: 'forbidden' })
    const refusal = await outbound()
      .check(url)
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(Refusal)
    expect(refusal).toMatchObject({ kind: 'invalid', extra: { code: 'endpoint_not_public' } })
    expect(canary.connections()).toBe(before)
  })

  test('a name that moves inside after it was accepted is refused when it is used', async () => {
    dns.answers.set('moves.example', ['93.184.216.34'])
    await outbound().check('https://moves.example/')
    dns.answers.set('moves.example', ['127.0.0.1'])
    const before = canary.connections()
    await expect(post('https://moves.example/')).rejects.toMatchObject({ kind: 'forbidden' })
    expect(canary.connections()).toBe(before)
  })

  test('the refusal does not tell which inside address a name leads to', async () => {
    const sentence = await outbound().check('https://inside-a.example/').catch(String)
    expect(sentence).toMatch(/public internet addresses only/)
    expect(sentence).not.toContain('10.1.2.3')
  })

  test('the canary does hear a public target, so its silence above means something', async () => {
    const before = canary.connections()
    await expect(post('https://good.example/')).rejects.toMatchObject({ kind: 'tls' })
    expect(canary.connections()).toBe(before + 1)
  })
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { exchange, statusesIn } from '../support/raw-socket.ts'

let market: Market
beforeAll(async () => {
  market = await startMarket()
})
afterAll(() => market.stop())

const crlf = (...lines: readonly string[]): string => lines.join('\r\n')
const HIDDEN = crlf('GET /healthz HTTP/1.1', 'Host: market.test', '', '')
const POST = [
  'POST /api/agents/recover HTTP/1.1',
  'Host: market.test',
  'Content-Type: application/json',
] as const

/** Requests whose end a proxy and this server could find at different places. */
const AMBIGUOUS: Readonly<Record<string, string>> = {
  'both lengths, CL.TE': crlf(
    ...POST,
    'Content-Length: 6',
    'Transfer-Encoding: chunked',
    '',
    '0',
    '',
    HIDDEN,
  ),
  'both lengths, TE.CL': crlf(
    ...POST,
    'Transfer-Encoding: chunked',
    'Content-Length: 4',
    '',
    HIDDEN.length.toString(16),
    HIDDEN,
    '0',
    '',
    '',
  ),
  'two different Content-Lengths': crlf(...POST, 'Content-Length: 2', 'Content-Length: 50', '', '{}', HIDDEN),
  'two equal Content-Lengths': crlf(...POST, 'Content-Length: 2', 'Content-Length: 2', '', `{}${HIDDEN}`),
  'a list as Content-Length': crlf(...POST, 'Content-Length: 2, 50', '', `{}${HIDDEN}`),
  'a signed Content-Length': crlf(...POST, 'Content-Length: +2', '', `{}${HIDDEN}`),
  'a Content-Length in hex': crlf(...POST, 'Content-Length: 0x2', '', `{}${HIDDEN}`),
  'a space before the colon': crlf(...POST, 'Content-Length : 2', '', `{}${HIDDEN}`),
  'chunked under another name': crlf(...POST, 'Transfer-Encoding: xchunked', '', '0', '', HIDDEN),
  'chunked twice': crlf(...POST, 'Transfer-Encoding: chunked, chunked', '', '0', '', HIDDEN),
  'chunked and then not': crlf(...POST, 'Transfer-Encoding: chunked, identity', '', '0', '', HIDDEN),
  'chunked in a folded line': crlf(
    ...POST,
    'Transfer-Encoding:',
    ' chunked',
    'Content-Length: 5',
    '',
    '0',
    '',
    HIDDEN,
  ),
  'a vertical tab before chunked': crlf(...POST, 'Transfer-Encoding: \vchunked', '', '0', '', HIDDEN),
  'a chunk size that is no number': crlf(...POST, 'Transfer-Encoding: chunked', '', 'zz', '', HIDDEN),
  'a chunk size beyond all bounds': crlf(
    ...POST,
    'Transfer-Encoding: chunked',
    '',
    'f'.repeat(20),
    '',
    HIDDEN,
  ),
  'a bare line feed in a header': crlf(...POST, 'X-A: a\nTransfer-Encoding: chunked', '', '0', '', HIDDEN),
  'a NUL in a header': crlf(...POST, 'X-A: a\0b', 'Content-Length: 2', '', `{}${HIDDEN}`),
  'a version there is not': crlf('GET /api/models HTTP/9.9', 'Host: market.test', '', ''),
}

describe('ambiguous request', () => {
  test.each(Object.entries(AMBIGUOUS))(
    '%s: is rejected once, and what follows it is not served (asvs V4.2)',
    async (_name, bytes) => {
      const received = await exchange(market.url, bytes)
      expect(statusesIn(received)).toEqual([400])
      expect(received).not.toContain('"status":"ok"')
      expect(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4))).toMatchObject({ success: false })
    },
  )

  test('two valid requests on one connection get two responses', async () => {
    const last = HIDDEN.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
    expect(statusesIn(await exchange(market.url, HIDDEN + last))).toEqual([200, 200])
  })
})

describe('foreign Host header', () => {
  test.each([
    '/api/models',
    '/api/agents',
    '/docs',
    '/api/openapi.json',
    '/nothing',
    '/api/auth/message?wallet=0x52908400098527886E0F7030069857D2E4169EE7',
  ])('is never repeated by %s', async (path) => {
    await makeOwnedAgent(market)
    const received = await exchange(
      market.url,
      crlf(
        `GET ${path} HTTP/1.1`,
        'Host: evil.example',
        'X-Forwarded-Host: evil.example',
        'Forwarded: host=evil.example',
        'X-Original-URL: //evil.example',
        'Connection: close',
        '',
        '',
      ),
    )
    expect(statusesIn(received)).toHaveLength(1)
    expect(received).not.toContain('evil.example')
  })

  test('a request without Host is rejected', async () => {
    expect(statusesIn(await exchange(market.url, crlf('GET /api/models HTTP/1.1', '', '')))).toEqual([400])
  })

  test.each(['/docs', '/healthz', '/api/models'])(
    'GET %s with two Host headers is rejected (asvs V4.2)',
    async (path) => {
      for (const [first, second] of [
        ['market.test', 'evil.example'],
        ['market.test', 'market.test'],
      ]) {
        const lines = [
          `GET ${path} HTTP/1.1`,
          `Host: ${first}`,
          `host: ${second}`,
          'Connection: close',
          '',
          '',
        ]
        const received = await exchange(market.url, crlf(...lines))
        expect(statusesIn(received)).toEqual([400])
        expect(received).toContain('"code":"bad_request"')
        expect(received).not.toContain('evil.example')
      }
    },
  )

  test('a foreign host in the request line is not used', async () => {
    const received = await exchange(
      market.url,
      crlf('GET http://evil.example/api/models HTTP/1.1', 'Host: evil.example', 'Connection: close', '', ''),
    )
    expect(received).not.toContain('evil.example')
  })
})

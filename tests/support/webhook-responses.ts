import { type Answer, hang, ok, shut, status } from './webhook-receiver.ts'

const big = 'x'.repeat(80 * 1024)

export const SUCCESSES: readonly (readonly [what: string, answer: Answer])[] = [
  ['200', ok],
  ['201', status(201)],
  ['204', (response) => void response.writeHead(204).end()],
  ['299', status(299)],
  ['200 with 80 KB', (response) => void response.end(big)],
  [
    '200 with an endless body',
    (response) => {
      const more = () => {
        while (!response.destroyed && response.write(big));
      }
      response.on('drain', more)
      more()
    },
  ],
]

export const FAILURES: readonly (readonly [what: string, failure: RegExp, answer: Answer])[] = [
  ...[300, 301, 302, 303, 307, 308].map(
    (code) => [`${code}`, new RegExp(`status ${code}`), status(code, { location: '/elsewhere' })] as const,
  ),
  ...[400, 401, 403, 404, 410, 413, 429, 500, 502, 503, 504].map(
    (code) => [`${code}`, new RegExp(`status ${code}`), status(code)] as const,
  ),
  ['500 with 80 KB', /status 500/, (response) => void response.writeHead(500).end(big)],
  ['no response', /within 5 seconds/, hang],
  [
    'headers without an end of the body',
    /within 5 seconds/,
    (response) => void response.writeHead(200).write('{'),
  ],
  ['a closed socket', /closed the connection/, shut],
  ['a reset socket', /closed the connection/, (response) => response.socket?.destroy(new Error('reset'))],
  [
    'a socket closed within the body',
    /closed the connection/,
    (response) => {
      response.writeHead(200, { 'content-length': '1000' }).write('{')
      setTimeout(() => response.socket?.destroy(), 50)
    },
  ],
  [
    'something that is not HTTP',
    /closed the connection/,
    (response) => response.socket?.end('220 ready\r\n'),
  ],
]

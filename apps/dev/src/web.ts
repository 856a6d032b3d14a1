import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { freePort, HOST, randomPort } from './ports.ts'
import { startProgram } from './program.ts'
import type { StartOptions } from './start-options.ts'

const BUILD = fileURLToPath(new URL('../../web/dist/server/entry-server.js', import.meta.url))

/** Whether `npm run build:web` was run: developers of the API need no build. */
export const isWebBuilt = (): boolean => existsSync(BUILD)

/** What the API serves on the one origin of the marketplace; everything else is a page. `deploy/proxy.conf` has the same list. */
export const API_PATHS = [
  ...['api', 'auth', 'oauth', 'mcp', 'docs', 'packages'],
  ...['.well-known', 'openapi.json', 'llms.txt', 'healthz', 'readyz'],
] as const
const OF_API = new RegExp(`^/(?:${API_PATHS.map((path) => path.replaceAll('.', '\\.')).join('|')})(?:[/?]|$)`)

interface WebPlace {
  /** Where the api itself listens. */
  readonly apiUrl: string
  readonly filesUrl: string
  /** Where the pages and the API are on one origin. */
  readonly origin: string
  readonly folder: string
  /** The local node of Solana, which the pages call. */
  readonly solanaNode: string | undefined
  /** Whether the pages come from their sources, with reload. */
  readonly isLive: boolean
}

/** Starts the server of the pages, and a proxy that puts them and the API on one origin. */
export async function startWeb(
  { apiUrl, filesUrl, origin, folder, isLive, solanaNode }: WebPlace,
  options: StartOptions,
): Promise<void> {
  const { cleanup, onExit, onLine, onProgress } = options
  onProgress('Starting the pages')
  const pagesPort = await freePort(randomPort())
  const settings = {
    API_URL: apiUrl,
    APP_URL: origin,
    FILES_URL: filesUrl,
    HOST,
    PORT: String(pagesPort),
    TRUSTED_PROXIES: HOST,
    ...(solanaNode !== undefined && { SOLANA_NODE_URL: origin + SOLANA_NODE }),
  }
  const program = await startProgram(isLive ? 'web-live' : 'web', folder, settings, onLine)
  cleanup.add('the pages', program.stop)
  program.exited.then(() => onExit('The pages', program.lastLines()))
  const proxy = await startOrigin({
    port: Number(new URL(origin).port),
    apiUrl,
    pagesUrl: `http://${HOST}:${pagesPort}`,
    solanaNode,
  })
  cleanup.add('the origin of the pages', proxy.stop)
}

interface OriginParts {
  readonly port: number
  readonly apiUrl: string
  readonly pagesUrl: string
  readonly solanaNode?: string | undefined
}

/** The local node answers no preflight request of a browser, so pages call it on their own origin. */
const SOLANA_NODE = '/solana-node'

/** Pages and API on one origin, as a reverse proxy serves them. */
export async function startOrigin({ port, apiUrl, pagesUrl, solanaNode }: OriginParts) {
  const proxy = createServer((incoming, outgoing) => {
    const { url = '/' } = incoming
    if (solanaNode !== undefined && url === SOLANA_NODE) return forward(incoming, outgoing, solanaNode, '/')
    return forward(incoming, outgoing, OF_API.test(url) ? apiUrl : pagesUrl)
  })
  proxy.listen(port, HOST)
  await once(proxy, 'listening')
  return {
    url: `http://${HOST}:${(proxy.address() as AddressInfo).port}`,
    stop: () => {
      proxy.close()
      proxy.closeAllConnections()
    },
  }
}

/** Host and port are always those of the target: a path such as `//host/` would otherwise name another host. */
function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  target: string,
  path = incoming.url ?? '',
): void {
  if (!/^\/(?!\/)/.test(path)) {
    outgoing.writeHead(400, { 'content-type': 'text/plain' }).end('The path must begin with one slash.\n')
    return
  }
  const { hostname, port } = new URL(target)
  const headers = { ...incoming.headers, 'x-forwarded-for': forwardedFor(incoming) }
  const sent = request({ hostname, port, path, method: incoming.method, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  sent.on('error', () => (outgoing.headersSent ? outgoing.destroy() : outgoing.writeHead(502).end()))
  outgoing.on('close', () => sent.destroy())
  incoming.pipe(sent)
}

/** Whoever calls from this machine can act as another visitor by naming an address. */
const forwardedFor = ({ headers, socket }: IncomingMessage): string =>
  [headers['x-forwarded-for'], socket.remoteAddress]
    .flat()
    .filter((hop) => hop !== undefined)
    .join(', ')

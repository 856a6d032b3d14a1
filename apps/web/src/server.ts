import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { AssetFile } from './assets.ts'
import { sendCompressed } from './compress.ts'
import type { WebConfig } from './config.ts'
import type { Assets, RenderedPage, RenderPage } from './page.ts'
import { addressOf, PATHS } from './page-addresses.ts'
import { PageCache } from './page-cache.ts'
import { mountPictures } from './pictures/mount.ts'
import type { Pictures } from './pictures/pictures.ts'
import { robots, sitemap } from './sitemap.ts'
import { VisitorCounts } from './visitor-counts.ts'

export interface WebParts {
  readonly render: RenderPage
  /** What a page loads: of the build, or of the development server. */
  readonly assets: Assets
  readonly files: ReadonlyMap<string, AssetFile>
  /** Draws the pictures for link previews; the development server has none. */
  readonly pictures?: Pictures
  /** How long a drawn page is used again. */
  readonly freshMs?: number
  /** Milliseconds since any moment; tests move it. */
  readonly now?: () => number
  /** Where the log goes instead of stdout. */
  readonly log?: { readonly write: (line: string) => void }
}

const FRESH_SECONDS = 30
const MAX_PAGES = 500
const MAX_PATH = 1_000
const YEAR_SECONDS = 31_536_000
const HOUR = 'public, max-age=3600'
const MAX_DRAWS = 64
const MAX_DRAWS_OF_VISITOR = 8

/** Serves the pages for people. It is a client of the API: it has no database and no secret. */
export function buildServer(config: WebConfig, parts: WebParts): FastifyInstance {
  const { render, assets, files, pictures, freshMs = FRESH_SECONDS * 1_000, log } = parts
  const now = parts.now ?? (() => performance.now())
  const server = Fastify({
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    routerOptions: { maxParamLength: MAX_PATH },
    logger: {
      level: 'warn',
      // A query may have an access token.
      serializers: { req: ({ method, url }) => ({ method, path: url.split('?')[0] }) },
      ...(log !== undefined && { stream: log }),
    },
    frameworkErrors: (_error, _request, reply) => {
      const page = reply as FastifyReply
      page
        .headers({ ...headers, ...SECRET })
        .code(400)
        .type(TEXT)
        .send('The address is not valid.')
    },
  })
  const cache = new PageCache({ freshMs, max: MAX_PAGES, now })
  const sitemaps = new PageCache({ freshMs: freshMs * 20, max: 1, now })
  const headers = pageHeaders(config)
  const { apiUrl, site, solanaNode, operator } = config

  /** The limits of the API count the visitor, not this server. */
  const fetchAs =
    ({ ip }: FastifyRequest): typeof fetch =>
    (input, init) =>
      fetch(input, { ...init, headers: withAddress(init?.headers, ip) })

  const drawSitemap = async (request: FastifyRequest) => ({
    status: 200,
    html: await sitemap({ apiUrl, site, fetch: fetchAs(request) }),
    isComplete: true,
  })

  const draws = new VisitorCounts(MAX_DRAWS_OF_VISITOR)
  let drawing = 0
  /** No visitor occupies this server alone. */
  const counted = async (
    { ip }: FastifyRequest,
    work: () => Promise<RenderedPage>,
  ): Promise<RenderedPage> => {
    // fix: draws-at-once
    if (drawing >= MAX_DRAWS || !draws.add(ip)) return BUSY
    drawing++
    try {
      return await work()
    } finally {
      drawing--
      draws.remove(ip)
    }
  }

  const draw = (request: FastifyRequest, path: string) =>
    counted(request, () =>
      render({ path, ...{ assets, apiUrl, site, solanaNode, operator }, fetch: fetchAs(request) }),
    )

  const sendPage = async (request: FastifyRequest, reply: FastifyReply) => {
    if (request.url.length > MAX_PATH) return reply.code(414).send('The address is too long.')
    const { path, isSecret, isPrivate } = addressOf(request)
    if (isSecret) {
      const { status, html } = await draw(request, path)
      return reply.headers(SECRET).code(status).type(HTML).send(html)
    }
    const page = await cache.get(path, () => draw(request, path))
    if (isPrivate) {
      reply.headers(SECRET).code(page.status).type(HTML)
      return sendCompressed(request, reply, page, page.html)
    }
    reply.headers({ etag: page.etag, 'cache-control': cacheControl(page) })
    if (request.headers['if-none-match'] === page.etag) return reply.code(304).send()
    reply.code(page.status).type(HTML)
    return sendCompressed(request, reply, page, page.html)
  }

  // fix: headers-of-every-response
  server.addHook('onRequest', async (_request, reply) => void reply.headers(headers))

  server.setErrorHandler((error, request, reply) => {
    const { name } = error instanceof Error ? error : { name: 'unknown' }
    // Messages of errors may have the address with its token.
    request.log.error({ req: request, error: name }, 'A page was not drawn')
    return reply.headers(SECRET).code(503).type(TEXT).send('The page cannot be shown now. Try again.')
  })

  server.get('/healthz', async () => ({ status: 'ok' }))
  server.get('/robots.txt', async (_request, reply) =>
    reply.header('cache-control', HOUR).type('text/plain; charset=utf-8').send(robots(site)),
  )
  server.get('/sitemap.xml', async (request, reply) =>
    reply
      .header('cache-control', HOUR)
      .type('application/xml; charset=utf-8')
      .send((await sitemaps.get('', () => drawSitemap(request))).html),
  )
  for (const path of PATHS) server.get(path, sendPage)
  if (pictures !== undefined) {
    const readAs = (request: FastifyRequest) => ({ apiUrl, fetch: fetchAs(request) })
    mountPictures(server, { pictures, counted, readAs, freshMs, now })
  }
  server.get('/*', async (request, reply) => {
    const address = withoutSlash(request.url)
    if (address !== undefined)
      return reply.headers(addressOf(request).isSecret ? SECRET : {}).redirect(address, 308)
    const file = files.get(request.url)
    if (file === undefined) return sendPage(request, reply)
    reply
      .type(file.type)
      .header('cache-control', file.isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : HOUR)
    return file.isText ? sendCompressed(request, reply, file, file.bytes) : reply.send(file.bytes)
  })
  return server
}

/** The address without the slashes at the end of its path. Two slashes at the beginning would name another host. */
function withoutSlash(url: string): string | undefined {
  const [path = '', ...query] = url.split('?')
  if (!path.endsWith('/') || !/^\/[^/\\]/.test(path)) return undefined
  let end = path.length
  while (path[end - 1] === '/') end--
  return [path.slice(0, end), ...query].join('?')
}

const HTML = 'text/html; charset=utf-8'
const TEXT = 'text/plain; charset=utf-8'
/** Of a page whose address may be a credential, or that shows something private. */
const SECRET = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', 'x-robots-tag': 'noindex' }
const BUSY: RenderedPage = { status: 503, html: 'Too many pages are requested at once.', isComplete: false }

const cacheControl = ({ status, isComplete }: RenderedPage): string =>
  status === 200 && isComplete ? `public, max-age=${FRESH_SECONDS}` : 'no-store'

function withAddress(headers: RequestInit['headers'], address: string): Headers {
  const all = new Headers(headers)
  all.set('x-forwarded-for', address)
  return all
}

/** No script, style or picture but our own; no script may write markup. */
const pageHeaders = ({ filesUrl, solanaNode }: WebConfig) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    // Wallets name their pictures as data.
    `img-src 'self' data:${filesUrl === undefined ? '' : ` ${filesUrl}`}`,
    ...(filesUrl === undefined ? [] : [`media-src ${filesUrl}`]),
    // The node shows a visitor what the treasury signed, which this server could not.
    `connect-src 'self'${solanaNode === undefined ? '' : ` ${new URL(solanaNode).origin}`}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  // As of the API, with which the pages share their origin.
  'strict-transport-security': `max-age=${YEAR_SECONDS}; includeSubDomains`,
  'referrer-policy': 'strict-origin-when-cross-origin',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  vary: 'accept-encoding',
})

import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { Readable } from 'node:stream'
import { failureOf } from '@market/handlers/failure'
import type { ServedFile, ServeFile } from '@market/handlers/serve-files'
import { ApiError } from '@market/kernel/api-error'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { addressList, clientAddress, isListed, plain } from './client-address.ts'
import { respondToClientError } from './client-error.ts'
import { type ClientLimits, guardedServer } from './guarded-server.ts'
import { countResponses, type Metrics } from './metrics.ts'
import { logResponses, type RequestLog } from './request-log.ts'

export interface FilesServerSettings {
  readonly serve: ServeFile
  readonly filesUrl: string
  readonly trustedProxies: readonly string[]
  readonly onUntrustedProxy: (peer: string) => void
  readonly clientLimits: ClientLimits
  readonly metrics: Metrics
  readonly log: RequestLog
  readonly onFault: (error: unknown, requestId: string) => void
}

/** No script runs in what this origin serves, and no page of it can be shown as one of ours. */
const HEADERS = {
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Referrer-Policy': 'no-referrer',
  'Strict-Transport-Security': 'max-age=31536000; includeSubDomains',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'no-store',
} as const

/** Larger than any encoded name of a file. */
const MAX_PARAM_LENGTH = 2_000

/** Serves uploaded files on an origin of their own. It reads no cookie and no credential. */
export function buildFilesServer(settings: FilesServerSettings): FastifyInstance<Server> {
  const proxies = addressList(settings.trustedProxies)
  const edge = { clientAddress: clientAddress(settings.trustedProxies) }
  const app = Fastify({
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    serverFactory: guardedServer({
      ...edge,
      appOrigin: settings.filesUrl,
      metrics: settings.metrics,
      limits: settings.clientLimits,
      isTrustedProxy: (peer) => isListed(proxies, plain(peer)),
      onUntrustedProxy: settings.onUntrustedProxy,
    }),
    logger: false,
    genReqId: () => randomUUID(),
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: respondToClientError,
  })
  app.decorateRequest('operation')
  logResponses(app, settings.log, edge)
  countResponses(app, settings.metrics)
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', async (request, reply) => {
    reply.headers({ ...HEADERS, 'X-Request-Id': request.id })
  })
  app.setErrorHandler((error, request, reply) => {
    if (!(error instanceof ApiError)) settings.onFault(error, request.id)
    const failure = failureOf(error, request.id)
    return reply.code(failure.status).headers(failure.headers).send(failure.body)
  })
  app.setNotFoundHandler(() => {
    throw new ApiError('not_found', 'There is no such file.', { code: 'file_not_found' })
  })
  app.route<FileRoute>({
    method: ['GET', 'HEAD'],
    url: '/:id/:name',
    onRequest: async (request) => {
      request.operation = 'serveFile'
    },
    handler: async (request, reply) => {
      const { id, name: fileName } = request.params
      // fix: file-id
      if (id.includes('\0')) throw new ApiError('invalid', 'The path contains a NUL character.')
      return send(request, reply, await settings.serve({ id, fileName, link: linkIn(request.query) }))
    },
  })
  return app
}

interface FileRoute {
  Params: { readonly id: string; readonly name: string }
  Querystring: Readonly<Record<string, string | readonly string[] | undefined>>
}

function linkIn({ expires, signature }: FileRoute['Querystring']) {
  const isLink = typeof expires === 'string' && /^\d{1,12}$/.test(expires) && typeof signature === 'string'
  return isLink ? { expires: Number(expires), signature } : undefined
}

/** What was delivered in a public order does not change; other files may become private or be deleted. */
const cachingOf = ({ isPublic }: ServedFile): string =>
  isPublic ? 'public, max-age=31536000, immutable' : 'private, no-store'

async function send(request: FastifyRequest<FileRoute>, reply: FastifyReply, file: ServedFile) {
  const etag = `"${file.sha256}"`
  const caching = { ETag: etag, 'Cache-Control': cachingOf(file) }
  if (request.headers['if-none-match']?.includes(etag) === true)
    return reply.code(304).headers(caching).send()
  const range = rangeOf(request, etag, file.size)
  if (range === 'unsatisfiable')
    return reply.code(416).header('Content-Range', `bytes */${file.size}`).type('text/plain').send('')
  // Before the headers: an error must not be cached like the file.
  const bytes = request.method === 'HEAD' ? undefined : await file.read(range)
  reply.headers({
    ...caching,
    'Content-Type': file.mediaType === 'text/plain' ? 'text/plain; charset=utf-8' : file.mediaType,
    'Content-Disposition': dispositionOf(file),
    'Content-Length': range === undefined ? file.size : range.end - range.start + 1,
    'Accept-Ranges': 'bytes',
  })
  if (range !== undefined)
    reply.code(206).header('Content-Range', `bytes ${range.start}-${range.end}/${file.size}`)
  return reply.send(bytes === undefined || bytes instanceof Readable ? bytes : Readable.from(bytes))
}

function dispositionOf({ isInline, fileName }: ServedFile): string {
  const ascii = fileName.replace(/[^\x20-\x7e]/g, '_')
  const encoded = encodeURIComponent(fileName).replace(
    /[()']/g,
    (one) => `%${one.charCodeAt(0).toString(16)}`,
  )
  return `${isInline ? 'inline' : 'attachment'}; filename="${ascii}"; filename*=UTF-8''${encoded}`
}

/** One range. A request for several gets the whole file, which the protocol allows. */
function rangeOf({ headers }: FastifyRequest<FileRoute>, etag: string, size: number) {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(headers.range ?? '') ?? []
  const isOther = headers['if-range'] !== undefined && headers['if-range'] !== etag
  if (first === undefined || last === undefined || (first === '' && last === '') || isOther) return undefined
  const start = first === '' ? Math.max(size - Number(last), 0) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  return start > end || start >= size ? ('unsatisfiable' as const) : { start, end }
}

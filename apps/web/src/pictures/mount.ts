import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { RenderedPage } from '../page.ts'
import { PageCache } from '../page-cache.ts'
import type { PictureFacts } from './facts.ts'
import type { Pictures } from './pictures.ts'
import { PICTURE_ROUTES, readFacts } from './read-facts.ts'

interface PictureSettings {
  readonly pictures: Pictures
  /** Does work that counts for the visitor, as drawing a page does. */
  readonly counted: (request: FastifyRequest, work: () => Promise<RenderedPage>) => Promise<RenderedPage>
  /** How the API is read for a visitor. */
  readonly readAs: (request: FastifyRequest) => { readonly apiUrl: string; readonly fetch: typeof fetch }
  readonly freshMs: number
  readonly now: () => number
}

const MAX_FACTS = 500
const TEXT = 'text/plain; charset=utf-8'

/** Serves the pictures of link previews. */
export function mountPictures(
  server: FastifyInstance,
  { pictures, counted, readAs, freshMs, now }: PictureSettings,
): void {
  const stored = new PageCache({ freshMs, max: MAX_FACTS, now })
  const sendPicture = async (request: FastifyRequest, reply: FastifyReply) => {
    const route = request.routeOptions.url ?? ''
    const params = request.params as Readonly<Record<string, string>>
    const read = async (): Promise<RenderedPage> => {
      const facts = await readFacts({ route, params, ...readAs(request) })
      if (facts === undefined) return { status: 404, html: '', isComplete: true }
      return { status: 200, html: JSON.stringify(facts), isComplete: true }
    }
    const key = JSON.stringify([route, params])
    const { status, html } = await stored.get(key, () => counted(request, read))
    if (status === 404) return reply.code(404).type(TEXT).send('There is no such picture.')
    const picture =
      status === 200 ? await pictures.get(JSON.parse(html) as PictureFacts, request.ip) : undefined
    if (picture === undefined)
      return reply.code(503).header('retry-after', '60').type(TEXT).send('Too many pictures are requested.')
    const { png, etag } = picture
    reply.headers({ etag, 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' })
    if (request.headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('image/png').send(png)
  }
  for (const route of PICTURE_ROUTES) server.get(route, sendPicture)
  server.addHook('onClose', () => pictures.stop())
}

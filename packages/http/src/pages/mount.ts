import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from '../headers.ts'
import { type Documents, readDocuments } from './documents.ts'
import { homePage, startLinks, type Urls } from './home.ts'
import { mountStylesheets, sendPage } from './page.ts'

const SOON = 'public, max-age=300'

/** Serves the start page, the guides, the pages of the contract and the stylesheets. */
export function mountPages(app: FastifyInstance, urls: Urls): void {
  mountStylesheets(app)
  app.get('/', async (request, reply) => {
    reply.header('Cache-Control', SOON)
    addVary(reply, 'Accept')
    return wantsJson(request)
      ? reply.send({ success: true, data: startLinks(urls) })
      : sendPage(reply, homePage(urls), { showsIcon: true })
  })
  let documents: Documents | undefined
  const sendDocument = async (request: FastifyRequest, reply: FastifyReply) => {
    // Read at the first request: a start does not need them.
    documents ??= readDocuments()
    const text = await documents.page(request.url.split('?', 1)[0] ?? '')
    if (text === undefined) return reply.callNotFound()
    return sendPage(reply.header('Cache-Control', SOON), text, { showsIcon: true })
  }
  for (const url of ['/docs/guides', '/docs/guides/:name', '/docs/contract', '/docs/contract/:name'])
    app.get(url, sendDocument)
}

const wantsJson = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  accept.includes('application/json') && !accept.includes('text/html')

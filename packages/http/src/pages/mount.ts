import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from '../headers.ts'
import { type Documents, readDocuments } from './documents.ts'
import { homePage, startLinks, type Urls } from './home.ts'
import { mountStylesheets } from './page.ts'

const SOON = 'public, max-age=300'

/** No form; the stylesheet, the fonts, the icon and the script of the copy buttons of this server, which may write no markup. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

const sendPage = (reply: FastifyReply, text: string) =>
  reply
    .header('Cache-Control', SOON)
    .header('Content-Security-Policy', POLICY)
    .type('text/html; charset=utf-8')
    .send(text)

/** Serves the start page, the guides, the pages of the contract and the stylesheets. */
export function mountPages(app: FastifyInstance, urls: Urls): void {
  mountStylesheets(app)
  app.get('/', async (request, reply) => {
    addVary(reply, 'Accept')
    return wantsJson(request)
      ? reply.header('Cache-Control', SOON).send({ success: true, data: startLinks(urls) })
      : sendPage(reply, homePage(urls))
  })
  let documents: Documents | undefined
  const sendDocument = async (request: FastifyRequest, reply: FastifyReply) => {
    // Read at the first request: a start does not need them.
    documents ??= readDocuments(urls)
    const text = await documents.page(request.url.split('?', 1)[0] ?? '')
    if (text === undefined) return reply.callNotFound()
    return sendPage(reply, text)
  }
  for (const url of ['/docs/guides', '/docs/guides/:name', '/docs/contract', '/docs/contract/:name'])
    app.get(url, sendDocument)
}

const wantsJson = ({ headers: { accept = '' } }: FastifyRequest): boolean =>
  accept.includes('application/json') && !accept.includes('text/html')

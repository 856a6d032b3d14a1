import type { Catalog, Showing } from '@market/handlers/x402/catalog'
import type { FastifyInstance } from 'fastify'
import { type Addressing, addressOf } from '../address-of.ts'
import { listDirectory, searchDirectory } from './directory.ts'
import { FAVICON } from './favicon.ts'
import { llmsTxt } from './llms-txt.ts'
import { showManifest } from './manifest.ts'
import { showServices } from './services-openapi.ts'

/** The doors at which programs look around. They speak formats of others, so nothing is put into our envelope. */
const DOORS: Readonly<Record<string, readonly [name: string, ask: (query: unknown) => Showing]>> = {
  '/api/x402/directory': ['listDirectory', listDirectory],
  '/api/x402/discovery/resources': ['listDirectory', listDirectory],
  '/api/x402/discovery/search': ['searchDirectory', searchDirectory],
  '/.well-known/x402': ['showManifest', showManifest],
  '/.well-known/x402.json': ['showManifest', showManifest],
  '/openapi.json': ['showServices', showServices],
}

export function mountCatalog(
  app: FastifyInstance,
  window: Catalog,
  settings: Addressing & { readonly baseUrl: string },
): void {
  for (const [url, [name, ask]] of Object.entries(DOORS))
    app.get(url, async (request, reply) => {
      request.operation = name
      const asked = { address: addressOf(request, settings), requestId: request.id }
      const answer = await window.look(asked, () => ask(request.query))
      return reply
        .code(answer.status)
        .type('application/json; charset=utf-8')
        .headers(answer.headers)
        .send(answer.body)
    })
  const llms = llmsTxt(settings.baseUrl)
  app.get('/llms.txt', async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').header('Cache-Control', 'public, max-age=300').send(llms),
  )
  app.get('/favicon.ico', async (_request, reply) =>
    reply.type('image/x-icon').header('Cache-Control', 'public, max-age=86400').send(FAVICON),
  )
}

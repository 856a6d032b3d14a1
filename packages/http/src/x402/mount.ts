import type { CatalogDocument, ServeDocument } from '@market/handlers/x402/catalog'
import type { FastifyInstance } from 'fastify'
import { sendResponse } from '../send-response.ts'
import { FAVICON } from './favicon.ts'
import { llmsTxt } from './llms-txt.ts'
import { manifest } from './manifest.ts'
import { servicesOpenApi } from './services-openapi.ts'

/** Documents at well-known paths, in formats that others define. */
const documentsOf = (
  appUrl: string,
): Readonly<Record<string, readonly [name: string, document: (query: unknown) => CatalogDocument]>> => ({
  '/.well-known/x402': ['getManifest', () => manifest(appUrl)],
  '/.well-known/x402.json': ['getManifest', () => manifest(appUrl)],
  '/openapi.json': ['getServicesOpenApi', servicesOpenApi],
})

export function mountDocuments(
  app: FastifyInstance,
  serve: ServeDocument,
  { baseUrl, appUrl }: { readonly baseUrl: string; readonly appUrl: string },
): void {
  for (const [url, [name, document]] of Object.entries(documentsOf(appUrl)))
    app.get(url, async (request, reply) => {
      request.operation = name
      const call = { address: request.client, requestId: request.id }
      const response = await serve(call, () => document(request.query))
      return sendResponse(request, reply, response)
    })
  const llms = llmsTxt(baseUrl, appUrl)
  app.get('/llms.txt', async (_request, reply) =>
    reply.type('text/plain; charset=utf-8').header('Cache-Control', 'public, max-age=300').send(llms),
  )
  app.get('/favicon.ico', async (_request, reply) =>
    reply.type('image/x-icon').header('Cache-Control', 'public, max-age=86400').send(FAVICON),
  )
}

import type { FastifyInstance } from 'fastify'
import { openApi } from '../openapi.ts'
import { type Asset, assetOf, sendAsset } from './asset.ts'
import { loadScalar, REFERENCE_POLICY, type ReferenceUrls, type Scalar } from './scalar.ts'

const SOON = 'public, max-age=300'
const FOREVER = 'public, max-age=31536000, immutable'

/**
 * Serves the OpenAPI document and the reference page. Each is made at its first request: together they cost more CPU
 * time than a start.
 */
export function mountReference(app: FastifyInstance, urls: ReferenceUrls): void {
  const { baseUrl } = urls
  let document: Asset | undefined
  let loaded: Promise<Scalar> | undefined
  const scalar = () => {
    loaded ??= loadScalar(urls).catch((error) => {
      // The next request tries again.
      loaded = undefined
      throw error
    })
    return loaded
  }
  app.get('/api/openapi.json', async (request, reply) => {
    document ??= assetOf(JSON.stringify(openApi(baseUrl)))
    reply.type('application/json; charset=utf-8').header('Cache-Control', SOON)
    return sendAsset(request, reply, document)
  })
  app.get('/docs', async (request, reply) => {
    const { page } = await scalar()
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', REFERENCE_POLICY)
      .header('Cache-Control', SOON)
    return sendAsset(request, reply, page)
  })
  app.get<{ Params: { file: string } }>('/docs/assets/:file', async (request, reply) => {
    const { script, scriptPath } = await scalar()
    if (request.url !== scriptPath) return reply.callNotFound()
    reply.type('text/javascript; charset=utf-8').header('Cache-Control', FOREVER)
    return sendAsset(request, reply, script)
  })
}

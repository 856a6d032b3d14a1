import { fileURLToPath } from 'node:url'
import { createServer as createVite } from 'vite'
import { readConfig } from '../config.ts'
import type { Assets, RenderPage } from '../page.ts'
import { buildServer } from '../server.ts'

/**
 * Serves the pages from their sources, for people who change them: Vite compiles each file when it is asked for, and the
 * browser loads a page again after a change. Vite writes styles into pages, so the policy of production does not apply.
 */
const config = readConfig(process.env)
const vite = await createVite({
  configFile: fileURLToPath(new URL('../../vite.config.ts', import.meta.url)),
  // Only local names: a page of another site must not read the sources by pointing its own name at this machine.
  server: { middlewareMode: true, hmr: { port: 0 }, allowedHosts: [] },
  logLevel: 'warn',
})
const render: RenderPage = async (request) => {
  const module = await vite.ssrLoadModule('/entry-server.tsx')
  return (module['renderPage'] as RenderPage)(request)
}
const assets = {
  script: '/entry-client.tsx',
  styles: ['/styles/market.css'],
  modules: ['/@vite/client'],
  fonts: [],
}
/** Every part in every state, for people who change the styles. */
type RenderLooks = (assets: Assets) => Promise<string>
const server = buildServer(config, { render, assets, files: new Map(), freshMs: 0 })
server.get('/looks', async (_request, reply) => {
  const { renderLooks } = await vite.ssrLoadModule('/looks/looks.tsx')
  return reply.type('text/html; charset=utf-8').send(await (renderLooks as RenderLooks)(assets))
})
server.addHook('onRequest', async (request, reply) => {
  const isPage = await new Promise<boolean>((resolve) => {
    reply.raw.once('finish', () => resolve(false))
    vite.middlewares(request.raw, reply.raw, () => resolve(true))
  })
  if (!isPage) reply.hijack()
})
server.addHook('onSend', async (_request, reply) => {
  reply.removeHeader('content-security-policy')
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void server.close().then(() => vite.close()))
const url = await server.listen({ host: config.host, port: config.port })
process.stdout.write(`${JSON.stringify({ level: 'info', msg: 'listening', url })}\n`)

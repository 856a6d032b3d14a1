import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readAssetFiles, readAssets } from './assets.ts'
import { readConfig } from './config.ts'
import type { RenderPage } from './page.ts'
import { Pictures } from './pictures/pictures.ts'
import { buildServer } from './server.ts'

/** `dist` has the build of the pages beside `bin`; in a checkout it is beside the sources. */
const [folder] = ['../pages/', '../dist/']
  .map((path) => new URL(path, import.meta.url))
  .filter((url) => existsSync(new URL('server/entry-server.js', url)))
if (folder === undefined) throw new Error('The pages are not built. Run `npm run build:web` first.')
const config = readConfig(process.env)
const { renderPage: render } = (await import(new URL('server/entry-server.js', folder).href)) as {
  renderPage: RenderPage
}
const client = fileURLToPath(new URL('client', folder))
const server = buildServer(config, {
  render,
  assets: readAssets(client),
  files: readAssetFiles(client),
  pictures: new Pictures(new URL('server/picture-worker.js', folder)),
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close())
const url = await server.listen({ host: config.host, port: config.port })
process.stdout.write(`${JSON.stringify({ level: 'info', msg: 'listening', url })}\n`)

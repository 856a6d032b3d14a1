import { existsSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { readAssetFiles, readAssets } from './assets.ts'
import { readConfig } from './config.ts'
import type { RenderPage } from './page.ts'
import { buildServer } from './server.ts'

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const CLIENT = path('../dist/client')
const RENDERER = path('../dist/server/entry-server.js')

if (!existsSync(RENDERER)) throw new Error('The pages are not built. Run `npm run build:web` first.')
const config = readConfig(process.env)
const { renderPage: render } = (await import(pathToFileURL(RENDERER).href)) as {
  renderPage: RenderPage
}
const server = buildServer(config, { render, assets: readAssets(CLIENT), files: readAssetFiles(CLIENT) })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close())
const url = await server.listen({ host: config.host, port: config.port })
process.stdout.write(`${JSON.stringify({ level: 'info', msg: 'listening', url })}\n`)

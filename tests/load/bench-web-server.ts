import { fileURLToPath, pathToFileURL } from 'node:url'
import { readAssetFiles, readAssets } from '@market/web/assets'
import type { RenderPage } from '@market/web/page'
import { Pictures } from '@market/web/pictures/pictures'
import { buildServer } from '@market/web/server'

/** The server of the pages from the last build, which draws each page again after `freshMs`. Prints its address. */
const [apiUrl = '', freshMs = '30000'] = process.argv.slice(2)
const BUILD = fileURLToPath(new URL('../../apps/web/dist/', import.meta.url))
const { renderPage: render } = (await import(pathToFileURL(`${BUILD}server/entry-server.js`).href)) as {
  renderPage: RenderPage
}
const server = buildServer(
  {
    ...{ host: '127.0.0.1', port: 0, apiUrl, site: 'https://market.example', filesUrl: undefined },
    ...{ solanaNode: undefined, operator: {}, trustedProxies: ['127.0.0.1'] },
  },
  {
    ...{ render, assets: readAssets(`${BUILD}client`), files: readAssetFiles(`${BUILD}client`) },
    pictures: new Pictures(pathToFileURL(`${BUILD}server/picture-worker.js`)),
    freshMs: Number(freshMs),
  },
)
console.log(await server.listen({ host: '127.0.0.1', port: 0 }))

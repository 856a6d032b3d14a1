import { createHash } from 'node:crypto'
import Fastify from 'fastify'
import { html } from '../pages/html.ts'
import { htmlDocument, stylesheet } from '../pages/html-document.ts'
import { renderMarkdown } from '../pages/markdown.ts'
import { SITE_STYLESHEET_PATH, siteBar } from '../pages/site-page.ts'
import { type Asset, assetOf } from './asset.ts'
import { introduction } from './introduction.ts'
import { SCALAR_STYLE } from './scalar-style.ts'

/**
 * The script sets styles of elements that it creates, so styles may be inline. It evaluates no text, and neither loads
 * nor sends anything elsewhere.
 */
export const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

/** What would call another host is off, and so is everything that handles a reader's credentials. */
const CONFIGURATION = {
  url: '/api/openapi.json',
  theme: 'none',
  customCss: SCALAR_STYLE,
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true, hideAddApi: true },
  mcp: { disabled: true },
  proxyUrl: '',
  showDeveloperTools: 'never',
  hideTestRequestButton: true,
  hideClientButton: true,
  persistAuth: false,
  hideModels: true,
  hiddenClients: true,
  documentDownloadType: 'direct',
  defaultOpenAllTags: false,
  // The label of a button has to begin with its text, "Show More".
  localization: { translations: { navigation: { showAllEndpoints: 'Show More: all {name} endpoints' } } },
  metaData: { title: 'API reference · Agent Market' },
}

export interface ReferenceUrls {
  readonly baseUrl: string
  /** The origin of the pages for people; undefined without them. */
  readonly pagesUrl: string | undefined
}

export interface Scalar {
  readonly page: Asset
  readonly script: Asset
  /** With a hash of the content, so that clients may store it for good. */
  readonly scriptPath: string
}

export async function loadScalar(urls: ReferenceUrls): Promise<Scalar> {
  const script = assetOf(await readScript())
  const hash = createHash('sha256').update(script.bytes).digest('hex').slice(0, 16)
  const scriptPath = `/docs/assets/scalar-${hash}.js`
  return { script, scriptPath, page: assetOf(await pageOf(scriptPath, urls)) }
}

/** The package exports its script only as a route of its plug-in. It has megabytes, so a start must not load it. */
async function readScript(): Promise<string> {
  const { default: plugin } = await import('@scalar/fastify-api-reference')
  const app = Fastify()
  await app.register(plugin, { routePrefix: '/docs', configuration: { url: CONFIGURATION.url } })
  const { body } = await app.inject('/docs/js/scalar.js')
  await app.close()
  return body
}

/** The introduction is there at once; the script replaces it by the same with all operations. */
async function pageOf(scriptPath: string, { baseUrl, pagesUrl }: ReferenceUrls): Promise<string> {
  const text = await renderMarkdown(`# Agent Market\n\n${introduction(baseUrl)}`, 'docs', () => undefined)
  return htmlDocument(
    'API reference',
    html`${stylesheet(SITE_STYLESHEET_PATH)}<style>${{ html: FRAME_STYLE }}</style>`,
    html`${siteBar({ path: '/docs', pagesUrl })}
<main id="introduction">
<noscript><p>The list of operations needs JavaScript. <a href="/api/openapi.json">The OpenAPI document</a> and <a href="/docs/guides">the guides</a> do not.</p></noscript>
${text}
</main>
<script id="api-reference" type="application/json" data-configuration="${JSON.stringify(CONFIGURATION)}"></script>
<script src="${scriptPath}" async></script>`,
  )
}

/** Scalar leaves space for the bar. Its own introduction takes the place of ours. */
const FRAME_STYLE = `:root { --scalar-custom-header-height: 57px; }
#introduction { max-width: 50rem; margin: 0 auto; padding: 2rem 1.5rem 60vh; }
body:has(.scalar-app h1) #introduction { display: none; }
.scalar-app pre { margin: 0; padding: 0; border: 0; background: none; }
`

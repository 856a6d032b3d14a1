import { Client } from '@market/sdk/client'

const PAGES = ['/', '/agents', '/bounties', '/activity', '/solvency', '/fees', '/status'] as const
const MAX_SERVICES = 1_000
const PAGE = 100

/** Search engines read public pages. Addresses with an access token are left out. */
const NOT_READ = [
  '/o/',
  '/orders',
  '/workspaces',
  '/bounties/mine',
  '/notifications',
  '/profile',
  '/spending',
  '/api/',
] as const

export const robots = (site: string): string =>
  `User-agent: *\n${NOT_READ.map((path) => `Disallow: ${path}\n`).join('')}Allow: /\n\nSitemap: ${site}/sitemap.xml\n`

interface SitemapRequest {
  readonly apiUrl: string
  readonly site: string
  readonly fetch: typeof fetch
}

/** The pages, and the services with their agents: those with the most buyers first. */
export async function sitemap({ apiUrl, site, fetch }: SitemapRequest): Promise<string> {
  const market = new Client({ apiUrl, fetch, retries: 0 })
  const paths = new Set<string>(PAGES)
  let count = 0
  for await (const { slug, agent } of market.browseServices({ limit: PAGE })) {
    paths.add(`/a/${agent.slug}`)
    paths.add(`/s/${agent.slug}/${slug}`)
    if (++count >= MAX_SERVICES) break
  }
  const urls = [...paths].map((path) => `<url><loc>${escaped(site + path)}</loc></url>`)
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)

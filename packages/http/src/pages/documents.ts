import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Urls } from './home.ts'
import { type Html, html } from './html.ts'
import { renderMarkdown } from './markdown.ts'
import { link, type SiteFrame, sitePage } from './site-page.ts'

/** `dist` has the pages beside `bin`; in a checkout they are in the root. */
const FOLDERS = ['../docs', '../../../../docs'].map((path) => join(import.meta.dirname, path))

const SERVED = '{guides,contract}/*.md'

interface Document {
  /** Relative to the folder `docs`. */
  readonly file: string
  readonly path: string
  readonly title: string
  readonly text: string
}

export interface Documents {
  /** The page at a path, or undefined. */
  readonly page: (path: string) => Promise<string> | undefined
}

type Addresses = Pick<Urls, 'baseUrl' | 'appUrl' | 'pagesUrl'>

/** Reads the guides and the pages of the contract. Each page is rendered at its first request, with the addresses of this server. */
export function readDocuments(urls: Addresses): Documents {
  const folder = FOLDERS.find((path) => existsSync(join(path, 'contract')))
  if (folder === undefined)
    throw new Error(`No pages in ${FOLDERS.join(' or ')}. Run \`npm run build\` again.`)
  const documents = globSync(SERVED, { cwd: folder })
    .map((file) => documentOf(file, readFileSync(join(folder, file), 'utf8')))
    .sort((a, b) => Number(isIndex(b)) - Number(isIndex(a)) || a.title.localeCompare(b.title, 'en'))
  const byPath = new Map(documents.map((document) => [document.path, document]))
  const rendered = new Map<string, Promise<string>>()
  const render = (path: string): Promise<string> | undefined => {
    const document = byPath.get(path)
    return document && renderPage(document, documents, urls)
  }
  return {
    page: (path) => {
      const made = rendered.get(path) ?? render(path)
      if (made !== undefined) rendered.set(path, made)
      return made
    },
  }
}

function documentOf(file: string, text: string): Document {
  const [, title = file] = /^# (.+)$/m.exec(text) ?? []
  const path = `/docs/${file.replace(/\.md$/, '').replace(/\/README$/, '')}`
  return { file, path, title: title.replaceAll('`', ''), text }
}

async function renderPage(
  document: Document,
  documents: readonly Document[],
  { baseUrl, appUrl, pagesUrl }: Addresses,
): Promise<string> {
  const paths = new Map(documents.map(({ file, path }) => [file, path]))
  const text = document.text.replaceAll('{base_url}', baseUrl).replaceAll('{app_url}', appUrl)
  const content = await renderMarkdown(text, document.file, (file) => paths.get(file))
  return framed({ title: document.title, path: document.path, pagesUrl }, content, documents)
}

const isIndex = ({ file }: Document): boolean => file.endsWith('/README.md')

const isGuide = (document: Document): boolean => document.file.startsWith('guides/') && !isIndex(document)

const framed = (frame: SiteFrame, content: Html, documents: readonly Document[]): string =>
  sitePage(
    frame,
    html`<div class="frame">
<nav aria-label="Pages"><div>
<h2>Guides</h2>
<ul>${items(documents.filter(isGuide), frame.path)}</ul>
<h2>Rules</h2>
<ul>${items(
      documents.filter((document) => document.file.startsWith('contract/')),
      frame.path,
    )}</ul>
</div></nav>
<main id="content">
${content}
</main>
</div>`,
  )

const items = (documents: readonly Document[], path: string): Html[] =>
  documents.map((document) => html`<li>${link(document.path, document.title, path)}</li>`)

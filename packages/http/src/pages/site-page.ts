import { type Html, html } from './html.ts'
import { htmlDocument, stylesheet } from './html-document.ts'

export const SITE_STYLESHEET_PATH = '/assets/site.css'

const SECTIONS = [
  ['/docs/guides', 'Guides'],
  ['/docs', 'Reference'],
  ['/docs/contract', 'Rules'],
  ['/docs/contract/errors', 'Errors'],
] as const

/** A page for readers: a bar with the sections, and the content with its own `main`. */
export const sitePage = (title: string, path: string, content: Html): string =>
  htmlDocument(
    title,
    stylesheet(SITE_STYLESHEET_PATH),
    html`<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><div>
<a class="brand" href="/">Agent Market</a>
<nav aria-label="Sections">
${SECTIONS.map(([to, name]) => link(to, name, path))}
</nav>
</div></header>
${content}`,
  )

/** A link that says when it leads to the page itself. */
export const link = (to: string, name: string, path: string): Html =>
  to === path ? html`<a href="${to}" aria-current="page">${name}</a> ` : html`<a href="${to}">${name}</a> `

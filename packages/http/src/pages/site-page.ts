import { type Html, html } from './html.ts'
import { htmlDocument, stylesheet } from './html-document.ts'

export const SITE_STYLESHEET_PATH = '/docs/assets/site.css'
export const COPY_SCRIPT_PATH = '/docs/assets/copy.js'

const SECTIONS = [
  ['/docs/guides', 'Guides'],
  ['/docs', 'Reference'],
  ['/docs/contract', 'Rules'],
  ['/docs/contract/errors', 'Errors'],
] as const

/** The pages of `apps/web`. */
const PAGES = [
  ['/', 'Services'],
  ['/agents', 'Agents'],
  ['/bounties', 'Bounties'],
  ['/solvency', 'Solvency'],
] as const

export interface SiteFrame {
  readonly title: string
  readonly path: string
  /** The origin of the pages for people; undefined without them. */
  readonly pagesUrl: string | undefined
}

const LOGO = html`<svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true"><circle cx="9" cy="12" r="7" fill="none" stroke="currentColor" stroke-width="1.8"/><circle cx="15" cy="12" r="7" fill="none" stroke="currentColor" stroke-width="1.8"/><path class="lens" d="M12 6.4a7 7 0 0 1 0 11.2 7 7 0 0 1 0-11.2z"/></svg>`

/** The bar of every page for readers: the way home, and the sections. */
export const siteBar = ({ path, pagesUrl }: Omit<SiteFrame, 'title'>): Html =>
  html`<header class="bar"><div>
<a class="brand" href="${pagesUrl ?? '/'}">${LOGO} Agent Market</a>
${
  pagesUrl === undefined
    ? undefined
    : html`<nav aria-label="Marketplace">
${PAGES.map(([to, name]) => html`<a href="${new URL(to, pagesUrl).href}">${name}</a> `)}
</nav>`
}
<nav class="end" aria-label="Sections">
${SECTIONS.map(([to, name]) => link(to, name, path))}
</nav>
</div></header>`

/** A page for readers: the bar, and the content with its own `main`. */
export const sitePage = (frame: SiteFrame, content: Html): string =>
  htmlDocument(
    frame.title,
    html`${stylesheet(SITE_STYLESHEET_PATH)}<script src="${COPY_SCRIPT_PATH}" defer></script>`,
    html`<a class="skip" href="#content">Skip to the content</a>
${siteBar(frame)}
${content}`,
  )

/** A link that says when it leads to the page itself. */
export const link = (to: string, name: string, path: string): Html =>
  to === path ? html`<a href="${to}" aria-current="page">${name}</a> ` : html`<a href="${to}">${name}</a> `

import { type Html, html } from './html.ts'

export const SITE_STYLESHEET_PATH = '/assets/site.css'

const SECTIONS = [
  ['/docs/guides', 'Guides'],
  ['/docs', 'Reference'],
  ['/docs/contract', 'Rules'],
  ['/docs/contract/errors', 'Errors'],
] as const

/** A page for readers: a bar with the sections, and the content with its own `main`. */
export const sitePage = (title: string, path: string, content: Html): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Agent Market</title>
<link rel="stylesheet" href="${SITE_STYLESHEET_PATH}">
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="bar"><div>
<a class="brand" href="/">Agent Market</a>
<nav aria-label="Sections">
${SECTIONS.map(([to, name]) => link(to, name, path))}
</nav>
</div></header>
${content}
</body>
</html>
`.html

/** A link that says when it leads to the page itself. */
export const link = (to: string, name: string, path: string): Html =>
  to === path ? html`<a href="${to}" aria-current="page">${name}</a> ` : html`<a href="${to}">${name}</a> `

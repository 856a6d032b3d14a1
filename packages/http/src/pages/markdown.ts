import { posix } from 'node:path'
import { highlight, languageOf } from '@market/style/highlight'
import type { Tokens } from 'marked'
import { type Html, html } from './html.ts'

/** Where the page of a markdown file is served, or undefined where it is not. */
export type PathOf = (file: string) => string | undefined

/** The name that GitHub gives a heading. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w\s-]/g, '')
    .trim()
    .replace(/\s/g, '-')

const raw = (text: string): Html => ({ html: text })

/**
 * Renders the markdown of a file of `docs`. Links to other served files lead to their pages; links to files that are
 * not served become text. HTML in the file is shown as text, except comments.
 */
export async function renderMarkdown(text: string, file: string, pathOf: PathOf): Promise<Html> {
  const { Marked } = await import('marked')
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text: heading }) {
        return `<h${depth} id="${anchorOf(heading)}">${this.parser.parseInline(tokens)}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens)
        const to = targetOf(href, file, pathOf)
        return to === undefined ? inner : html`<a href="${to}">${raw(inner)}</a>`.html
      },
      image: ({ text: alternative }) => html`${alternative}`.html,
      html: ({ text: source }) => (/^\s*<!--.*-->\s*$/s.test(source) ? '' : html`${source}`.html),
      // A diagram needs a script, and the text around it says the same.
      code: ({ text: source, lang }: Tokens.Code) =>
        lang === 'mermaid'
          ? ''
          : html`<div class="code-box"><pre tabindex="0"><code>${coloured(source, lang)}\n</code></pre></div>`
              .html,
      table(token) {
        const cells = (row: readonly Tokens.TableCell[], tag: string) =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('')}</tr>`
        const rows = token.rows.map((row) => cells(row, 'td')).join('\n')
        return `<div class="scroll" tabindex="0"><table>\n<thead>${cells(token.header, 'th')}</thead>\n<tbody>${rows}</tbody>\n</table></div>\n`
      },
    },
  })
  return raw(await marked.parse(text))
}

const CLASSES = { comment: 'c', string: 's', keyword: 'k' } as const

function coloured(source: string, name: string | undefined): Html {
  const language = languageOf(name)
  if (language === undefined) return html`${source}`
  const parts = highlight(source, language).map(({ kind, text }) =>
    kind === 'plain' ? html`${text}` : html`<span class="${CLASSES[kind]}">${text}</span>`,
  )
  return html`${parts}`
}

function targetOf(href: string, file: string, pathOf: PathOf): string | undefined {
  if (/^(https?:|mailto:|#)/.test(href)) return href
  if (/^[a-z]+:/i.test(href)) return undefined
  const [target = '', anchor] = href.split('#')
  const path = pathOf(posix.normalize(posix.join(posix.dirname(file), target)))
  return path === undefined || anchor === undefined ? path : `${path}#${anchor}`
}

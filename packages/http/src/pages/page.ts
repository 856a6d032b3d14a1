import type { FastifyInstance, FastifyReply } from 'fastify'
import { COPY_SCRIPT } from './copy-script.ts'
import { mountFonts } from './fonts.ts'
import { type Html, html } from './html.ts'
import { htmlDocument, stylesheet } from './html-document.ts'
import { COPY_SCRIPT_PATH, SITE_STYLESHEET_PATH } from './site-page.ts'
import { SITE_STYLESHEET } from './site-stylesheet.ts'
import { STYLESHEET } from './stylesheet.ts'

const STYLESHEET_PATH = '/docs/assets/pages.css'

/** No script at all; forms go to this server, and their responses may redirect to `redirectTo`. */
export const contentPolicy = (redirectTo?: string): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
    "font-src 'self'",
    `form-action 'self'${redirectTo === undefined ? '' : ` ${redirectTo}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

export const page = (title: string, content: Html): string =>
  htmlDocument(
    title,
    stylesheet(STYLESHEET_PATH),
    html`<header><p>Agent Market</p></header>
<main>
<h1>${title}</h1>
${content}
</main>`,
  )

export const errorPage = (message: string): string => page('This did not work', html`<p>${message}</p>`)

interface PageOptions {
  readonly status?: number
  /** Where the forms of the page may lead besides this server. */
  readonly redirectTo?: string | undefined
}

export const sendPage = (reply: FastifyReply, text: string, { status = 200, redirectTo }: PageOptions = {}) =>
  reply
    .code(status)
    .header('Content-Security-Policy', contentPolicy(redirectTo))
    // Otherwise browsers send our own forms without their origin.
    .header('Referrer-Policy', 'same-origin')
    .type('text/html; charset=utf-8')
    .send(text)

const CSS = 'text/css; charset=utf-8'

/** The stylesheets and fonts of all pages, and the script of those for readers. */
export function mountStylesheets(app: FastifyInstance): void {
  mountFonts(app)
  for (const [path, type, text] of [
    [STYLESHEET_PATH, CSS, STYLESHEET],
    [SITE_STYLESHEET_PATH, CSS, SITE_STYLESHEET],
    [COPY_SCRIPT_PATH, 'text/javascript; charset=utf-8', COPY_SCRIPT],
  ] as const)
    app.get(path, (_request, reply) =>
      reply.header('Cache-Control', 'public, max-age=3600').type(type).send(text),
    )
}

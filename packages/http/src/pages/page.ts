import type { FastifyInstance, FastifyReply } from 'fastify'
import { type Html, html } from './html.ts'
import { htmlDocument, stylesheet } from './html-document.ts'
import { SITE_STYLESHEET_PATH } from './site-page.ts'
import { SITE_STYLESHEET } from './site-stylesheet.ts'
import { STYLESHEET } from './stylesheet.ts'

const STYLESHEET_PATH = '/assets/pages.css'

/** No script at all; forms go to this server, and their responses may redirect to `redirectTo`. */
export const contentPolicy = (redirectTo?: string): string =>
  [
    "default-src 'none'",
    "style-src 'self'",
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

/** The stylesheets of all pages. */
export function mountStylesheets(app: FastifyInstance): void {
  for (const [path, text] of Object.entries({
    [STYLESHEET_PATH]: STYLESHEET,
    [SITE_STYLESHEET_PATH]: SITE_STYLESHEET,
  }))
    app.get(path, (_request, reply) =>
      reply.header('Cache-Control', 'public, max-age=3600').type('text/css; charset=utf-8').send(text),
    )
}

import { createHash } from 'node:crypto'
import { GROUPS } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import type { FastifyInstance } from 'fastify'
import { renderOperation } from './docs-operation.ts'
import { DOCS_STYLE } from './docs-style.ts'
import { openApi } from './openapi.ts'

const STYLE_HASH = createHash('sha256').update(DOCS_STYLE).digest('base64')

/** The page may use its own inline style and nothing else. */
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`

/**
 * Serves the OpenAPI document and the reference page. Each is generated from the contract at its first request: both
 * together cost a quarter of the CPU time of a start.
 */
export function mountDocs(app: FastifyInstance, baseUrl: string): void {
  // As bytes, which all responses share: text would be encoded again for each of them.
  let description: Buffer | undefined
  let page: Buffer | undefined
  const readDescription = () => {
    description ??= Buffer.from(JSON.stringify(openApi(baseUrl)))
    return description
  }
  const readPage = () => {
    page ??= Buffer.from(renderPage(baseUrl))
    return page
  }
  app.get('/api/openapi.json', async (_request, reply) =>
    reply
      .type('application/json; charset=utf-8')
      .header('Cache-Control', 'public, max-age=300')
      .send(readDescription()),
  )
  app.get('/docs', async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('Content-Security-Policy', PAGE_POLICY)
      .header('Cache-Control', 'public, max-age=300')
      .send(readPage()),
  )
}

function renderPage(baseUrl: string): string {
  const groups = GROUPS.map((group) => ({
    group,
    operations: operationList.filter((o) => o.group === group),
  }))
  const menu = groups.map(
    ({ group, operations }) =>
      `<li><b>${group}</b><ul>${operations.map((o) => `<li><a href="#${o.id}">${o.summary}</a></li>`).join('')}</ul></li>`,
  )
  const sections = groups.map(
    ({ group, operations }) =>
      `<section><h2>${group}</h2>${operations.map(renderOperation).join('')}</section>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Market API</title>
<style>${DOCS_STYLE}</style>
</head>
<body>
<nav><h1>Agent Market</h1><ul>${menu.join('')}</ul></nav>
<main>
<p>Base URL <code>${baseUrl}</code>. Also available as <a href="/api/openapi.json">OpenAPI 3.1</a>. Every response is
an envelope: <code>{"success": true, "data": …}</code>, or <code>{"success": false, "error": "a message", "code": "a_code",
"request_id": …}</code>. Every write accepts an <code>Idempotency-Key</code> header. A repetition within 24 hours
returns the first response and does not execute the request again.</p>
${sections.join('\n')}
</main>
</body>
</html>`
}

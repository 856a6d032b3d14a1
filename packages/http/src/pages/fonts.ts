import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance } from 'fastify'

const MONTH = 'public, max-age=2592000'

/** The fonts of `apps/web`, for the pages of the api too. */
const FONTS = [
  { family: 'Geist', path: '/docs/assets/geist.woff2', of: 'geist' },
  { family: 'Geist Mono', path: '/docs/assets/geist-mono.woff2', of: 'geist-mono' },
] as const

export const FONT_FACES = FONTS.map(
  ({ family, path }) =>
    `@font-face { font-family: "${family}"; src: url("${path}") format("woff2"); font-weight: 100 900; font-display: swap; }\n`,
).join('')

/** `dist` has the files beside `bin`; in a checkout they are in their packages. */
function readFont(name: string): Buffer {
  const file = `${name}-latin-wght-normal.woff2`
  const copied = join(import.meta.dirname, '../fonts', file)
  if (existsSync(copied)) return readFileSync(copied)
  return readFileSync(fileURLToPath(import.meta.resolve(`@fontsource-variable/${name}/files/${file}`)))
}

/** Each file is read at its first request. */
export function mountFonts(app: FastifyInstance): void {
  for (const { path, of } of FONTS) {
    let bytes: Buffer | undefined
    app.get(path, (_request, reply) => {
      bytes ??= readFont(of)
      return reply.header('Cache-Control', MONTH).type('font/woff2').send(bytes)
    })
  }
}

import { cpSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { OutputChunk } from 'rolldown'
import { hashSources } from './hash-sources.ts'
import { noticeOf } from './notice.ts'
import { packClients } from './pack.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

const PROGRAMS = {
  api: 'apps/api/src/main.ts',
  worker: 'apps/worker/src/main.ts',
  web: 'apps/web/src/main.ts',
  migrate: 'packages/database/src/commands/migrate.ts',
  'create-roles': 'packages/database/src/commands/create-roles.ts',
  'rotate-vault': 'apps/worker/src/commands/rotate-vault.ts',
  'new-keys': 'apps/worker/src/commands/new-keys.ts',
  'mcp-stdio': 'packages/mcp-stdio/src/main.ts',
} as const

export type Program = keyof typeof PROGRAMS

/** The file of a program in a folder that `writeBundle` wrote. */
export const programFile = (folder: string, program: Program): string => join(folder, 'bin', `${program}.mjs`)

/** Where `writeBundle` records the hash of the sources that it bundled. */
export const hashFile = (folder: string): string => join(folder, 'sources.sha256')

/** The build of `apps/web`, which the program `web` reads beside `bin`. */
const PAGES = join(ROOT, 'apps/web/dist')

/**
 * Writes every program, the migrations and the documents into `folder`, which then needs only Node; with `isWhole` also the pages
 * for people and the packages that the api serves to its clients. Replaces the folder in one step, so that a build that fails leaves the previous one.
 */
export async function writeBundle(folder: string, { isWhole = false } = {}): Promise<void> {
  const hash = hashSources()
  const partial = `${folder}.${process.pid}.partial`
  try {
    const files: string[] = []
    for (const [program, file] of Object.entries(PROGRAMS))
      files.push(...(await bundle(program, file, join(partial, 'bin'))))
    // The code reads them from `../migrations` relative to its own file, as in the sources.
    cpSync(join(ROOT, 'packages/database/migrations'), join(partial, 'migrations'), { recursive: true })
    // The api serves them as pages.
    for (const pages of ['docs/guides', 'docs/contract'])
      cpSync(join(ROOT, pages), join(partial, pages), { recursive: true })
    for (const font of ['geist', 'geist-mono']) {
      const file = `${font}-latin-wght-normal.woff2`
      const from = join(ROOT, `node_modules/@fontsource-variable/${font}/files`, file)
      cpSync(from, join(partial, 'fonts', file))
      files.push(from)
    }
    writeFileSync(join(partial, 'NOTICE'), noticeOf(files))
    cpSync(join(ROOT, 'LICENSE'), join(partial, 'LICENSE'))
    if (isWhole) {
      cpSync(PAGES, join(partial, 'pages'), { recursive: true })
      await packClients(join(partial, 'packages'))
    }
    writeFileSync(hashFile(partial), `${hash}\n`)
    rmSync(folder, { recursive: true, force: true })
    renameSync(partial, folder)
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

/**
 * One file per program, so that it loads nothing that only another program uses; chunks for dynamic imports only. Returns the files
 * that it is made of.
 */
async function bundle(program: string, file: string, folder: string): Promise<string[]> {
  // Most callers only need paths and never build.
  const { build } = await import('rolldown')
  const { output } = await build({
    cwd: ROOT,
    input: { [program]: file },
    platform: 'node',
    // CommonJS packages use these two; an ES module does not have them.
    transform: { define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
    onLog: (level, log) => {
      // `depd` of the authorization server builds deprecated functions by it, of which there are none.
      const isDepd = log.code === 'EVAL' && log.id?.includes('/depd/') === true
      if (level === 'warn' && !isDepd)
        throw new Error(`The bundle of ${program} is not complete: ${log.message}`)
    },
    output: {
      dir: folder,
      format: 'esm',
      sourcemap: true,
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
      // Logs show the names of error classes.
      keepNames: true,
    },
  })
  const chunks = output.filter((item): item is OutputChunk => item.type === 'chunk')
  const own = new Set(chunks.map(({ fileName }) => fileName))
  const missing = chunks
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((name) => !own.has(name) && !isBuiltin(name))
  if (missing.length > 0) throw new Error(`The bundle of ${program} lacks ${missing.join(', ')}`)
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}

import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { OutputChunk } from 'rolldown'
import { hashSources } from './hash-sources.ts'
import { noticeOf } from './notice.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const run = promisify(execFile)

interface Client {
  /** The source of each file in `dist`. The first one is what the package is imported as, the others `<package>/<name>`. */
  readonly entries: Readonly<Record<string, string>>
  /** A library runs in browsers too, and has types. A program runs in Node. */
  readonly kind: 'library' | 'program'
}

/** The packages that users install. They have no dependencies: `dist` contains all they need. */
const CLIENTS: Readonly<Record<string, Client>> = {
  sdk: {
    entries: { index: 'src/index.ts', wallets: 'src/browser-wallets/index.ts' },
    kind: 'library',
  },
  cli: { entries: { market: 'src/main.ts' }, kind: 'program' },
  'mcp-stdio': { entries: { 'mcp-stdio': 'src/main.ts' }, kind: 'program' },
}

/** The clients that have sources in this checkout. */
export const clientNames = (): string[] =>
  Object.entries(CLIENTS).flatMap(([name, { entries }]) =>
    Object.values(entries).every((entry) => existsSync(join(ROOT, 'packages', name, entry))) ? [name] : [],
  )

/** A tarball and what the api says of it (`packages/http/src/client-packages.ts`). */
interface Packed {
  readonly name: string
  readonly version: string
  readonly file: string
  readonly size: number
  readonly integrity: string
}

/** Writes the tarballs of clients and their list, `packages.json`, into `destination`. */
export async function packClients(
  destination: string,
  names: readonly string[] = clientNames(),
): Promise<Packed[]> {
  const packed: Packed[] = []
  for (const name of names) packed.push(await packClient(name, destination))
  writeFileSync(join(destination, 'packages.json'), `${JSON.stringify(packed, null, 2)}\n`)
  return packed
}

/** Writes the tarball of a client into `destination`. */
export async function packClient(name: string, destination: string): Promise<Packed> {
  mkdirSync(join(ROOT, '.cache'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.cache', `pack-${name}-`))
  try {
    const notice = noticeOf(await writeDist(name, join(folder, 'dist')))
    writeFileSync(join(folder, 'NOTICE'), notice)
    cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
    for (const part of ['bin', 'README.md']) {
      const from = join(ROOT, 'packages', name, part)
      if (existsSync(from)) cpSync(from, join(folder, part), { recursive: true })
    }
    const manifest = manifestOf(name)
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    mkdirSync(destination, { recursive: true })
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', destination], {
      cwd: folder,
    })
    const [{ filename, size, integrity }] = JSON.parse(stdout) as [
      { readonly filename: string; readonly size: number; readonly integrity: string },
    ]
    const file = `${name}-${manifest.version}.tgz`
    renameSync(join(destination, filename), join(destination, file))
    return { name, version: manifest.version, file, size, integrity }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes the bundle of a client, and the types of a library. Returns the files that the bundle is made of. */
export async function writeDist(name: string, folder: string): Promise<string[]> {
  const client = clientOf(name)
  rmSync(folder, { recursive: true, force: true })
  const files = await bundle(name, client, folder)
  if (client.kind === 'library') await writeTypes(name, client, folder)
  return files
}

function clientOf(name: string): Client {
  const client = CLIENTS[name]
  if (client === undefined)
    throw new Error(`${name} is not a package to publish. Choose from ${Object.keys(CLIENTS).join(', ')}.`)
  return client
}

/** The packages of a release have the plain version. */
const IS_RELEASE = process.argv.includes('--release')

/**
 * Between releases the version names the sources too: an address with a version never gets other contents, so that everybody
 * may keep what it returned.
 */
const versionOf = (released: string): string =>
  IS_RELEASE ? released : `${released}-dev.${hashSources(['scripts/pack.ts']).slice(0, 10)}`

/** The package.json of the tarball. The one of the checkout names sources and packages of the workspace. */
function manifestOf(name: string): { readonly version: string } {
  const path = join(ROOT, 'packages', name, 'package.json')
  const {
    devDependencies: _,
    scripts: __,
    exports: ___,
    files,
    version,
    ...more
  } = JSON.parse(readFileSync(path, 'utf8'))
  const rest = { ...more, version: versionOf(version), files: [...files, 'NOTICE'] }
  const { kind, entries } = clientOf(name)
  if (kind === 'program') return rest
  const exports = Object.entries(entries).map(([file, entry], index) => [
    index === 0 ? '.' : `./${file}`,
    { types: `./dist/${typesOf(entry)}`, default: `./dist/${file}.mjs` },
  ])
  const [main = ''] = Object.values(entries)
  return {
    ...rest,
    sideEffects: false,
    types: `./dist/${typesOf(main)}`,
    exports: Object.fromEntries(exports),
  }
}

/** Declarations have the folders of the sources. */
const typesOf = (entry: string): string => relative('src', entry).replace(/\.ts$/, '.d.ts')

async function bundle(name: string, { entries, kind }: Client, folder: string): Promise<string[]> {
  const { build } = await import('rolldown')
  const { output: files } = await build({
    cwd: ROOT,
    input: Object.fromEntries(
      Object.entries(entries).map(([file, entry]) => [file, join('packages', name, entry)]),
    ),
    platform: kind === 'library' ? 'browser' : 'node',
    transform: { target: 'es2022' },
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`The bundle of ${name} is not complete: ${log.message}`)
    },
    output: {
      dir: folder,
      format: 'esm',
      entryFileNames: '[name].mjs',
      chunkFileNames: '[name]-[hash].mjs',
      keepNames: true,
    },
  })
  const chunks = files.filter((item): item is OutputChunk => item.type === 'chunk')
  const own = new Set(chunks.map(({ fileName }) => fileName))
  const missing = chunks
    .flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports])
    .filter((file) => !own.has(file) && !(kind === 'program' && isBuiltin(file)))
  if (missing.length > 0) throw new Error(`The bundle of ${name} lacks ${missing.join(', ')}`)
  return chunks.flatMap(({ moduleIds }) => moduleIds)
}

/** Declarations of the entries and of what they import. They may import nothing that is not in the tarball. */
async function writeTypes(name: string, { entries }: Client, folder: string): Promise<void> {
  const emitted = mkdtempSync(join(ROOT, '.cache', 'types-'))
  try {
    const config = join(emitted, 'tsconfig.json')
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: ROOT,
      outDir: emitted,
      typeRoots: [join(ROOT, 'node_modules/@types')],
    }
    writeFileSync(
      config,
      JSON.stringify({
        extends: join(ROOT, 'tsconfig.json'),
        compilerOptions,
        include: [],
        files: Object.values(entries).map((entry) => join(ROOT, 'packages', name, entry)),
      }),
    )
    await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', config])
    for (const entry of Object.values(entries))
      copyTypes(join(emitted, 'packages', name, 'src', typesOf(entry)), folder, typesOf(entry))
  } finally {
    rmSync(emitted, { recursive: true, force: true })
  }
}

const IMPORT = /(from |import\()(['"])([^'"]+)\2/g

/** Copies a declaration file and, in turn, what it imports. */
function copyTypes(from: string, folder: string, to: string): void {
  const target = join(folder, to)
  if (existsSync(target)) return
  const imported: string[] = []
  const text = readFileSync(from, 'utf8').replace(
    IMPORT,
    (_, before: string, quote: string, file: string) => {
      if (!file.startsWith('./') && !file.startsWith('../'))
        throw new Error(`The types of ${to} import ${file}, which is not in the package.`)
      imported.push(file.replace(/\.ts$/, '.d.ts'))
      return `${before}${quote}${file.replace(/\.ts$/, '.js')}${quote}`
    },
  )
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, text)
  for (const file of imported) copyTypes(join(dirname(from), file), folder, join(dirname(to), file))
}

if (import.meta.main) {
  const names = process.argv.slice(2).filter((argument) => argument !== '--release')
  const destination = join(ROOT, 'dist/packages')
  for (const { file } of await packClients(destination, names.length > 0 ? names : undefined))
    process.stdout.write(`dist/packages/${file}\n`)
}

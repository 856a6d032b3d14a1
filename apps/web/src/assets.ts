import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { Compressible } from './compress.ts'
import type { Assets } from './page.ts'

/** A file of the build, kept in memory: all of them are less than a megabyte. */
export interface AssetFile extends Compressible {
  readonly bytes: Buffer
  readonly type: string
  /** Files with a hash in their name never change. */
  readonly isImmutable: boolean
  /** Fonts and pictures are compressed by themselves. */
  readonly isText: boolean
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
}

/** The files of a folder by their path in an address, `/assets/…`. */
export function readAssetFiles(folder: string): ReadonlyMap<string, AssetFile> {
  const files = globSync('**/*', { cwd: folder }).filter((file) => TYPES[extname(file)] !== undefined)
  return new Map(
    files.map((file) => [
      `/${file}`,
      {
        bytes: readFileSync(join(folder, file)),
        type: TYPES[extname(file)] ?? '',
        isImmutable: file.startsWith('assets/'),
        isText: ['.css', '.js', '.svg'].includes(extname(file)),
      },
    ]),
  )
}

interface Chunk {
  readonly file: string
  readonly isEntry?: boolean
  readonly css?: readonly string[]
  readonly imports?: readonly string[]
}

/** What every page loads, from the manifest of the build. */
export function readAssets(folder: string): Assets {
  const chunks = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Record<string, Chunk>
  const entry = Object.values(chunks).find(({ isEntry }) => isEntry)
  if (entry === undefined)
    throw new Error(`The manifest of ${folder} has no entry. Run \`npm run build:web\` again.`)
  const fonts = Object.values(chunks).filter(({ file }) => /geist-latin-.*\.woff2$/.test(file))
  return {
    script: `/${entry.file}`,
    styles: (entry.css ?? []).map((file) => `/${file}`),
    modules: (entry.imports ?? []).flatMap((name) => chunks[name]?.file ?? []).map((file) => `/${file}`),
    fonts: fonts.map(({ file }) => `/${file}`),
  }
}

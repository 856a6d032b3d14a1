import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** What may be bundled: licences that ask for their text and a notice, and nothing of the code around them. */
const ACCEPTED = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0'],
  ...['Unlicense', 'CC0-1.0', 'OFL-1.1', 'MPL-2.0', 'Zlib'],
])

interface Bundled {
  readonly name: string
  readonly version: string
  readonly license: string
  /** The texts of its licence and notice. */
  readonly texts: readonly string[]
}

const PACKAGE = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//

/** The packages of npm that files of a bundle come from, by name. */
export function bundledPackages(files: Iterable<string>): Bundled[] {
  const folders = new Map<string, string>()
  for (const file of files) {
    const [, folder, name] = PACKAGE.exec(file.replaceAll('\0', '')) ?? []
    if (folder !== undefined && name !== undefined) folders.set(folder, name)
  }
  return [...folders].map(([folder, name]) => read(folder, name)).sort(byName)
}

const byName = (one: Bundled, other: Bundled): number => (nameOf(one) < nameOf(other) ? -1 : 1)
const nameOf = ({ name, version }: Bundled): string => `${name} ${version}`

function read(folder: string, name: string): Bundled {
  const { version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    readonly version: string
    readonly license?: string
  }
  if (!isAccepted(license))
    throw new Error(
      `${name} ${version} has the licence ${license}, which is not in ACCEPTED of scripts/notice.ts.`,
    )
  const files = globSync('{LICEN[CS]E,COPYING,NOTICE}*', {
    cwd: folder,
    exclude: (file) => /\.(js|ts)$/.test(file),
  })
  const texts = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim())
  return { name, version, license, texts }
}

/** `MIT OR Apache-2.0` lets us choose, `MIT AND ISC` asks for both. */
const isAccepted = (license: string | undefined): license is string => {
  if (license === undefined) return false
  const parts = license.replace(/[()]/g, '').split(/ (?:AND|OR) /)
  return license.includes(' OR ')
    ? parts.some((part) => ACCEPTED.has(part))
    : parts.every((part) => ACCEPTED.has(part))
}

const RULE = '-'.repeat(80)

/** The text of a NOTICE: our own, and licence and texts of every package that is bundled. Equal texts are written once. */
export function noticeOf(files: Iterable<string>): string {
  const packages = bundledPackages(files)
  const own = readFileSync(join(ROOT, 'NOTICE'), 'utf8')
  if (packages.length === 0) return own
  const byText = new Map<string, Bundled[]>()
  for (const one of packages) {
    const text = one.texts.join('\n\n')
    byText.set(text, [...(byText.get(text) ?? []), one])
  }
  const parts = [...byText].map(([text, same]) => {
    const heading = same.map((one) => `${nameOf(one)} (${one.license})`).join('\n')
    return `${RULE}\n${heading}\n${text === '' ? '' : `\n${text}\n`}`
  })
  return `${own}\nThis file contains the following packages, each under its own licence.\n\n${parts.join('\n')}`
}

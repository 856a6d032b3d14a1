import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Prepares a release. `npm run release -- 0.1.0` says what it would change, `--write` changes it, `--check` fails unless everything has
 * this version already, and `--notes` prints its section of the changelog.
 */

const UNRELEASED = '## Unreleased'

/** What a file becomes. The same text means that nothing is to be changed. */
interface Change {
  readonly file: string
  readonly from: string
  readonly to: string
}

const VERSIONED = /^(?:package\.json|(?:packages|apps|tools)\/[^/]+\/package\.json)$/

/** The changes of a release on a day, as `YYYY-MM-DD`. */
export function releaseChanges(
  root: string,
  files: readonly string[],
  version: string,
  day: string,
): Change[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8')
  const changed = (file: string, change: (text: string) => string): Change => {
    const from = read(file)
    return { file, from, to: change(from) }
  }
  return [
    ...files
      .filter((file) => VERSIONED.test(file))
      .map((file) => changed(file, (text) => versioned(text, version))),
    changed('package-lock.json', (text) => lockVersioned(text, version)),
    changed('packages/sdk/src/version.ts', (text) =>
      text.replace(/VERSION = '[^']*'/, `VERSION = '${version}'`),
    ),
    changed('deploy/compose.yaml', (text) =>
      text.replace(/MARKET_VERSION:-[\d.]+/, `MARKET_VERSION:-${version}`),
    ),
    changed('CHANGELOG.md', (text) => changelogReleased(text, version, day)),
  ]
}

const versioned = (text: string, version: string): string =>
  text.replace(/^(\s*"version": )"[^"]*"/m, `$1"${version}"`)

/** Only our own packages have a version in the lock file without a place that they come from. */
function lockVersioned(text: string, version: string): string {
  const lock = JSON.parse(text) as {
    version: string
    packages: Record<string, { version?: string; link?: boolean }>
  }
  lock.version = version
  for (const [path, entry] of Object.entries(lock.packages))
    if (!path.includes('node_modules/') && entry.version !== undefined) entry.version = version
  return `${JSON.stringify(lock, null, 2)}\n`
}

function changelogReleased(text: string, version: string, day: string): string {
  if (text.includes(`\n## ${version} `)) return text
  if (!text.includes(`${UNRELEASED}\n`)) throw new Error('CHANGELOG.md has no section Unreleased.')
  return text.replace(`${UNRELEASED}\n`, `${UNRELEASED}\n\n## ${version} (${day})\n`)
}

/** The section of a version. */
export function releaseNotes(changelog: string, version: string): string {
  const [, section] = changelog.split(`\n## ${version} `)
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${version}.`)
  return `${section.slice(section.indexOf('\n')).split('\n## ')[0]?.trim()}\n`
}

const ROOT = fileURLToPath(new URL('../', import.meta.url))

function main([version = '', option]: readonly string[]): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) throw new Error('Name a version: npm run release -- 0.1.0')
  if (option === '--notes') {
    process.stdout.write(releaseNotes(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version))
    return
  }
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).split('\n')
  const day = new Date().toISOString().slice(0, 10)
  const changes = releaseChanges(ROOT, files, version, day).filter(({ from, to }) => from !== to)
  for (const { file } of changes) process.stdout.write(`${file}\n`)
  if (option === '--check' && changes.length > 0) throw new Error(`These files are not those of ${version}.`)
  if (option === '--write') for (const { file, to } of changes) writeFileSync(join(ROOT, file), to)
  if (option === undefined)
    process.stdout.write(
      `${changes.length} files would change. Nothing was written: repeat it with --write.\n`,
    )
}

if (import.meta.main) {
  try {
    main(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}

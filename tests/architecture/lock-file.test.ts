import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { TEST_PACKAGES } from '../deploy/test-packages.ts'

interface LockEntry {
  readonly resolved?: string
  readonly link?: boolean
  readonly dev?: boolean
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')
const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, LockEntry>> }

/** Resolves like Node: in the package's own node_modules, then in those of the folders above it. */
function isLocked(from: string, name: string): boolean {
  for (let folder = from; ; ) {
    if (`${folder === '' ? '' : `${folder}/`}node_modules/${name}` in packages) return true
    if (folder === '') return false
    const above = folder.lastIndexOf('node_modules/')
    folder = above > 0 ? folder.slice(0, above - 1) : ''
  }
}

test('lock file: holds every optional package that an entry names, so that npm ci works on every platform', () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !isLocked(path, name))
      .map((name) => `${path} needs ${name}`),
  )
  expect(missing).toEqual([])
  expect(isLocked('node_modules/vitest', 'no-such-package')).toBe(false)
})

test('lock file: names no registry', () => {
  const resolved = Object.entries(packages).filter(([, entry]) => entry.resolved !== undefined && !entry.link)
  expect(resolved.map(([path]) => path)).toEqual([])
})

test('lock file: packages of tests, chains and tools are development packages, so that production does not install them', () => {
  const installed = TEST_PACKAGES.filter((name) => packages[`node_modules/${name}`]?.dev !== true)
  expect(installed).toEqual([])
  const nested = Object.keys(packages).filter((path) => packages[path]?.dev !== true)
  expect(
    nested.filter((path) => /node_modules\/(?:@foundry-rs\/|@solana\/surfpool|playwright|vitest)/.test(path)),
  ).toEqual([])
})

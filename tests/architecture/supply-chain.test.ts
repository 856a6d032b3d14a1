import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { auditVerdict } from '../../scripts/audit-report.ts'
import { type LockPackages, programPackages } from '../../scripts/program-packages.ts'

const text = readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')
const { packages } = JSON.parse(text) as { packages: LockPackages }

const namesOf = (programs: readonly string[]) =>
  new Set([...programPackages(packages, programs)].map((one) => one.replace(/(.)@.*/, '$1')))

test('sbom: has what api and worker need at run time, and nothing that only tests and dev need (asvs V15.1)', () => {
  const names = namesOf(['apps/api', 'apps/worker'])
  for (const name of ['fastify', 'pg', 'kysely', 'viem', 'zod', 'jose', 'ioredis', 'graphile-worker', 'pino'])
    expect(names, name).toContain(name)
  for (const name of ['vitest', '@foundry-rs/anvil', 'typescript', '@biomejs/biome'])
    expect(names, name).not.toContain(name)
  expect([...names].filter((name) => name.startsWith('@market/'))).toEqual([])
})

test('sbom: follows a package in a nested node_modules before one at the top', () => {
  const lock = {
    'apps/one': { dependencies: { a: '*' } },
    'node_modules/a': { version: '1.0.0', dependencies: { b: '*' } },
    'node_modules/a/node_modules/b': { version: '2.0.0', dependencies: { c: '*' } },
    'node_modules/b': { version: '1.0.0' },
    'node_modules/c': { version: '3.0.0' },
  }
  expect([...programPackages(lock, ['apps/one'])].toSorted()).toEqual(['a@1.0.0', 'b@2.0.0', 'c@3.0.0'])
})

test('npm ci: every package has an integrity hash, and those with install scripts are in the allow-list (asvs V15.1)', () => {
  interface Locked {
    readonly link?: boolean
    readonly integrity?: string
    readonly hasInstallScript?: boolean
  }
  const locked = Object.entries(packages as Readonly<Record<string, Locked>>)
  const fetched = locked.filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
  expect(fetched.length).toBeGreaterThan(100)
  expect(fetched.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  const { allowScripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const scripted = fetched.filter(([, { hasInstallScript }]) => hasInstallScript === true)
  expect(scripted.map(([path]) => path.split('node_modules/').at(-1)).toSorted()).toEqual(
    Object.keys(allowScripts).toSorted(),
  )
})

test('npm audit: passes only for a report without a vulnerability of severity moderate or above (asvs V15.1)', () => {
  const report = (vulnerabilities: object) =>
    JSON.stringify({ vulnerabilities, metadata: { vulnerabilities: {} } })
  expect(auditVerdict(report({})).isGood).toBe(true)
  expect(auditVerdict(report({ a: { severity: 'low' } })).isGood).toBe(true)
  expect(auditVerdict(report({ a: { severity: 'moderate', range: '<2' } }))).toEqual({
    isGood: false,
    text: 'moderate: a <2',
  })
})

test.each(['', '{}', '{"message": "405 Method Not Allowed"}', 'not JSON'])(
  'npm audit: fails when the registry sends no report: %s',
  (output) => {
    const { isGood, text } = auditVerdict(output)
    expect(isGood).toBe(false)
    expect(text).toContain('vulnerabilities are unknown')
  },
)

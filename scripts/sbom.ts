import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type LockPackages, programPackages } from './program-packages.ts'

/**
 * Writes dist/sbom.cdx.json (CycloneDX): the packages of api, worker and web, with versions, licences and hashes. `npm sbom
 * --omit dev` leaves out what the root lists for the tests too, such as pg, so the whole list is cut to the programs here.
 */
const ROOT = fileURLToPath(new URL('../', import.meta.url))
const PROGRAMS = ['apps/api', 'apps/worker', 'apps/web']

interface Bom {
  readonly metadata: { readonly component: Readonly<Record<string, unknown>> }
  readonly components: readonly { readonly 'bom-ref': string }[]
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[]
}

const lock = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as { packages: LockPackages }
const wanted = programPackages(lock.packages, PROGRAMS)
const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: ROOT,
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
const bom = JSON.parse(text) as Bom
// A package that is installed at two places has a path after its version.
const isWanted = (ref: string) => wanted.has(ref.replace(/\|.*$/, ''))
const components = bom.components.filter((component) => isWanted(component['bom-ref']))
const listed = new Set(components.map((component) => component['bom-ref'].replace(/\|.*$/, '')))
const missing = [...wanted].filter((name) => !listed.has(name))
if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}`)

const { component } = bom.metadata
const written = {
  ...bom,
  metadata: { ...bom.metadata, component: { ...component, name: 'agent-market', type: 'application' } },
  components,
  dependencies: bom.dependencies
    .filter(({ ref }) => isWanted(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter(isWanted) })),
}
mkdirSync(`${ROOT}dist`, { recursive: true })
writeFileSync(`${ROOT}dist/sbom.cdx.json`, `${JSON.stringify(written, undefined, 2)}\n`)
process.stdout.write(`dist/sbom.cdx.json: ${components.length} packages\n`)

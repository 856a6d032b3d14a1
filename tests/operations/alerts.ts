import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')

export const RULES_FILE = join(ROOT, 'deploy/prometheus/rules.yaml')
export const RULES_TEST_FILE = join(ROOT, 'deploy/prometheus/rules.test.yaml')
export const SCRAPE_FILE = join(ROOT, 'deploy/prometheus/prometheus.yaml')
export const RUNBOOKS = 'docs/operations/runbooks'

export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly for: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}

export const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

export const alerts = (): Alert[] =>
  (parse(readFileSync(RULES_FILE, 'utf8')) as { groups: { rules: Alert[] }[] }).groups.flatMap(
    ({ rules }) => rules,
  )

/** The pages by name, such as `rpc.md`. The README lists them and is none. */
export const runbooks = (): string[] =>
  globSync(`${RUNBOOKS}/*.md`, { cwd: ROOT })
    .map((path) => basename(path))
    .filter((name) => name !== 'README.md')

export interface Dashboard {
  readonly file: string
  readonly title: string
  readonly panels: readonly Panel[]
}

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly description?: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

export const dashboards = (): Dashboard[] =>
  globSync('deploy/grafana/*.json', { cwd: ROOT }).map((file) => ({
    file: basename(file),
    ...(JSON.parse(read(file)) as Omit<Dashboard, 'file'>),
  }))

export const expressionsOf = ({ panels }: Dashboard): string[] =>
  panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

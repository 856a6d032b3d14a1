import { connect } from '@market/database/connect'
import { createMetrics } from '@market/http/metrics'
import { marketContext } from '@market/testing/market-context'
import { startMetricsServer } from '@market/worker/metrics-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Market, runBundled, startMarket } from '../support/market.ts'
import { alerts, dashboards, expressionsOf } from './alerts.ts'
import { readExpression } from './promql.ts'

/** Metrics of other programs, with their labels: Prometheus itself and node_exporter. */
const OUTSIDE = new Map([
  ['up', []],
  ['node_filesystem_avail_bytes', ['mountpoint', 'fstype']],
  ['node_filesystem_size_bytes', ['mountpoint', 'fstype']],
] as [string, string[]][])

/** Prometheus adds these to every metric. */
const OF_EVERY_TARGET = ['job', 'instance']

interface Described {
  readonly help: string
  readonly type: string
}

/** Also lists a metric that has no value yet. */
function describedIn(text: string): Map<string, Described> {
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
  const helps = [...text.matchAll(/^# HELP (\S+)(?: (.*))?$/gm)]
  return new Map(helps.map(([, name = '', help = '']) => [name, { help, type: types.get(name) ?? '' }]))
}

const readMetrics = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text()

/** A histogram is exposed as three series. */
const baseOf = (name: string, exposed: ReadonlyMap<string, Described>): string => {
  const base = name.replace(/_(?:bucket|sum|count)$/, '')
  return exposed.get(base)?.type === 'histogram' ? base : name
}

function labelsOf(registry: ReturnType<typeof createMetrics>['registry']): [string, readonly string[]][] {
  return registry.getMetricsAsArray().map((metric) => {
    const { name, labelNames = [] } = metric as unknown as { name: string; labelNames?: string[] }
    return [name, 'upperBounds' in metric ? [...labelNames, 'le'] : labelNames]
  })
}

let market: Market
let api: Map<string, Described>
let worker: Map<string, Described>
let exposed: Map<string, Described>
let labels: Map<string, readonly string[]>
beforeAll(async () => {
  market = await startMarket({}, { run: runBundled })
  const workerProcess = await market.startWorker()
  api = describedIn(await readMetrics(market.url))
  worker = describedIn(await readMetrics(workerProcess.url))
  exposed = new Map([...api, ...worker])
  const db = connect({ url: 'postgres://nobody@127.0.0.1:1/away' })
  const server = await startMetricsServer({
    ...{ host: '127.0.0.1', port: 0, readers: [], hotMax: {} },
    ...{ ctx: marketContext({ db }), networks: () => [], canAnchor: () => false },
    whyNotReady: async () => undefined,
    isStopping: () => false,
  })
  labels = new Map([...labelsOf(createMetrics().registry), ...labelsOf(server.registry), ...OUTSIDE])
  await server.stop()
  await db.destroy()
})
afterAll(() => market?.stop())

const expressions = () => [
  ...alerts().map(({ alert, expr }) => ({ where: alert, expr })),
  ...dashboards().flatMap((dashboard) =>
    expressionsOf(dashboard).map((expr) => ({ where: dashboard.file, expr })),
  ),
]

test('metrics: api and worker describe every metric that they expose', () => {
  expect([...api.keys()]).toEqual(
    expect.arrayContaining(['market_requests_total', 'market_ready', 'process_cpu_seconds_total']),
  )
  expect([...worker.keys()]).toEqual(expect.arrayContaining(['market_jobs_waiting', 'market_ready']))
  const undescribed = [...exposed].filter(([, { help, type }]) => help.length < 10 || type === '')
  expect(undescribed.map(([name]) => name)).toEqual([])
})

test('metrics: every metric in an alert or a dashboard is exposed by a started api or worker', () => {
  expect(expressions().length).toBeGreaterThan(60)
  const missing = expressions().flatMap(({ where, expr }) =>
    readExpression(expr)
      .metrics.filter(({ name }) => !exposed.has(baseOf(name, exposed)) && !OUTSIDE.has(name))
      .map(({ name }) => `${where}: ${name}`),
  )
  expect(missing).toEqual([])
})

test('metrics: every label in an alert or a dashboard exists at its metrics', () => {
  const known = (name: string) => [...(labels.get(baseOf(name, exposed)) ?? []), ...OF_EVERY_TARGET]
  const missing = expressions().flatMap(({ where, expr }) => {
    const { metrics, groupedBy } = readExpression(expr)
    const matched = metrics.flatMap(({ name, labels: used }) =>
      used.filter((label) => !known(name).includes(label)).map((label) => `${where}: ${name}{${label}}`),
    )
    const grouped = groupedBy
      .filter((label) => !metrics.every(({ name }) => known(name).includes(label)))
      .map((label) => `${where}: by (${label})`)
    return [...matched, ...grouped]
  })
  expect(missing).toEqual([])
})

test('metrics: every metric of the marketplace is in an alert or a dashboard', () => {
  const used = new Set(
    expressions().flatMap(({ expr }) =>
      readExpression(expr).metrics.map(({ name }) => baseOf(name, exposed)),
    ),
  )
  expect([...exposed.keys()].filter((name) => name.startsWith('market_') && !used.has(name))).toEqual([])
})

test('dashboards: every panel has a title, a description, an expression and a place of its own', () => {
  expect(
    dashboards()
      .map(({ file }) => file)
      .toSorted(),
  ).toEqual(['api.json', 'jobs-and-chains.json', 'money.json'])
  for (const { file, panels } of dashboards()) {
    expect(new Set(panels.map(({ id }) => id)).size, file).toBe(panels.length)
    for (const { type, title, description = '', targets = [] } of panels.filter(
      (panel) => panel.type !== 'row',
    )) {
      expect(title.length, `${file}: ${type}`).toBeGreaterThan(2)
      expect(description.length, `${file}: ${title}`).toBeGreaterThan(3)
      expect(targets.length, `${file}: ${title}`).toBeGreaterThan(0)
    }
    const places = panels.map(({ gridPos }) => gridPos)
    const overlapping = places.filter((a, n) =>
      places.some(
        (b, m) => m > n && a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h,
      ),
    )
    expect(overlapping, file).toEqual([])
  }
})

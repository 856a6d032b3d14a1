import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { startOrigin } from '@market/dev/web'
import { Pictures } from '@market/web/pictures/pictures'
import { chromium } from 'playwright-core'
import { startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { percentile } from '../support/until.ts'
import { type BenchRow, median, report } from './bench-report.ts'
import { fillWithListings } from './many-listings.ts'
import { cpuMsOf } from './postgres-cpu.ts'

/** How soon a visitor with a slow telephone sees the pages, and what a page and a picture cost the server. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 7)
const LISTINGS = Number(process.env['LISTINGS'] ?? 1_000)
const DRAWS = Number(process.env['DRAWS'] ?? 100)
const SECONDS = Number(process.env['SECONDS'] ?? 5)

const SLOW = { cpu: 4, bitsPerSecond: 9_000_000, latencyMs: 80 } as const
const run = promisify(execFile)
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

async function startPages(apiUrl: string, freshMs: number) {
  const child = spawn(process.execPath, [script('./bench-web-server.ts'), apiUrl, String(freshMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production' },
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const pid = child.pid ?? 0
  return {
    url: line.toString().trim(),
    cpuMs: () => cpuMsOf(pid) ?? Number.NaN,
    pid,
    stop: () => child.kill(),
  }
}
type Pages = Awaited<ReturnType<typeof startPages>>

/** Adds up what moves, and remembers the last of the largest contents. */
const OBSERVE = `window.seen = { lcp: 0, cls: 0 }
new PerformanceObserver((list) => { for (const { startTime } of list.getEntries()) seen.lcp = startTime })
  .observe({ type: 'largest-contentful-paint', buffered: true })
new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) seen.cls += value })
  .observe({ type: 'layout-shift', buffered: true })`

/** A first visit: nothing is stored. */
async function visit(browser: Awaited<ReturnType<typeof chromium.launch>>, url: string) {
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } })
  try {
    const page = await context.newPage()
    await page.addInitScript(OBSERVE)
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    const throughput = SLOW.bitsPerSecond / 8
    await devtools.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: SLOW.latencyMs },
      ...{ downloadThroughput: throughput, uploadThroughput: throughput },
    })
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOW.cpu })
    await page.goto(url, { waitUntil: 'networkidle' })
    return (await page.evaluate('seen')) as { readonly lcp: number; readonly cls: number }
  } finally {
    await context.close()
  }
}

/** CPU time of the process of the pages for a page that is drawn each time, after the compiler has optimized it. */
async function costOf({ url, cpuMs }: Pages, path: string, count: number): Promise<number> {
  // Each visitor has limits of its own.
  const draw = async (number: number) => {
    const address = `198.18.${number >> 8}.${number & 255}`
    const response = await fetch(url + path, { headers: { 'x-forwarded-for': address } })
    if (!response.ok) throw new Error(`${path} is ${response.status}`)
    await response.arrayBuffer()
  }
  for (let number = 0; number < count; number++) await draw(number)
  const before = cpuMs()
  for (let number = 0; number < count; number++) await draw(number)
  return (cpuMs() - before) / count
}

async function perSecond({ url, cpuMs }: Pages, path: string) {
  const settings = { port: Number(new URL(url).port), status: 200, connections: 16, seconds: SECONDS }
  const load = async () => {
    const { stdout } = await run(process.execPath, [
      script('./bench-client.ts'),
      JSON.stringify({ ...settings, requests: [{ path, headers: { 'accept-encoding': 'gzip' } }] }),
    ])
    return JSON.parse(stdout) as Record<'answered' | 'rejected' | 'seconds', number>
  }
  await load()
  const before = cpuMs()
  const { answered, rejected, seconds } = await load()
  if (rejected > 0) throw new Error(`${rejected} pages were not sent`)
  return { rate: answered / seconds, micros: ((cpuMs() - before) / answered) * 1_000 }
}

/** CPU time of a picture that is not stored yet, of all threads. */
async function costOfPicture(count: number): Promise<number> {
  const worker = pathToFileURL(script('../../apps/web/dist/server/picture-worker.js'))
  const pictures = new Pictures(worker, { newOfVisitor: Number.POSITIVE_INFINITY, waiting: 1 })
  const draw = (number: number) =>
    pictures.get(
      {
        ...{ kind: 'Service', title: `Review of pull request number ${number}`, otherTitle: '' },
        ...{ by: { id: `agt_${number}`, name: 'Typescript Reviewer' }, figures: [['Price', '20.00 USDC']] },
      },
      '198.18.0.1',
    )
  for (let number = 0; number < count; number++) await draw(number)
  const before = process.cpuUsage()
  for (let number = count; number < 2 * count; number++) await draw(number)
  const { user, system } = process.cpuUsage(before)
  await pictures.stop()
  return (user + system) / 1_000 / count
}

const memoryOf = (pid: number): number =>
  Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024

await run('npm', ['run', '--silent', 'build:web'])
const parts = await startParts()
await fillWithListings(parts.database.url, LISTINGS)
const api = await startApi(parts.environment)
const [pages, drawing] = await Promise.all([startPages(api.url, 3_600_000), startPages(api.url, 0)])
const origin = await startOrigin({ port: 0, apiUrl: api.url, pagesUrl: pages.url })
const browser = await chromium.launch({
  executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
})
try {
  const listed = await fetch(`${api.url}/api/services?limit=1`)
  const { data } = (await listed.json()) as {
    readonly data: readonly { readonly slug: string; readonly agent: { readonly slug: string } }[]
  }
  const [service] = data
  if (service === undefined) throw new Error('There is no service')
  const paths = ['/', `/s/${service.agent.slug}/${service.slug}`, `/a/${service.agent.slug}`, '/solvency']
  const rows: BenchRow[] = []
  for (const path of paths) {
    const what = path.replace(service.agent.slug, '…').replace(service.slug, '…')
    const visits: { readonly lcp: number; readonly cls: number }[] = []
    // The first visit draws the page.
    for (let round = 0; round <= ROUNDS; round++) {
      const seen = await visit(browser, origin.url + path)
      if (round > 0) visits.push(seen)
    }
    const lcp = visits.map((one) => one.lcp)
    const cls = Math.max(...visits.map((one) => one.cls))
    rows.push({
      what: `${what}, first visit: CPU ÷ 4, 9 Mbit/s, 80 ms`,
      measured: `LCP ${median(lcp).toFixed(0)} ms (${percentile(lcp, 0).toFixed(0)} to ${percentile(lcp, 1).toFixed(0)}), CLS ${cls.toFixed(3)}`,
      aim: 'LCP 1,500 ms, CLS 0.05',
      cpu: `${(await costOf(drawing, path, DRAWS)).toFixed(1)} ms for a page that is drawn (aim 30 ms)`,
    })
  }
  const { rate, micros } = await perSecond(pages, '/')
  rows.push({
    what: 'stored pages of one process, 16 connections',
    measured: `${rate.toFixed(0)} a second, ${memoryOf(pages.pid).toFixed(0)} MB at most`,
    aim: '',
    cpu: `${micros.toFixed(0)} µs`,
  })
  rows.push({
    ...{ what: 'a new picture for link previews, in a thread of its own', measured: '', aim: '' },
    cpu: `${(await costOfPicture(DRAWS / 5)).toFixed(0)} ms`,
  })
  report(rows)
} finally {
  await browser.close()
  origin.stop()
  for (const { stop } of [pages, drawing]) stop()
  await api.stop()
  await parts.stop()
}

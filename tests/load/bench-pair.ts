import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { BenchRequest } from './bench-client.ts'
import { type BenchRow, median, spread } from './bench-report.ts'

const run = promisify(execFile)
const script = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/** What the client sends for some seconds; the requests are sent in turn. */
export interface Load {
  readonly requests: readonly BenchRequest[]
  readonly status: number
  readonly connections: number
}

interface Measured {
  readonly perSecond: number
  readonly cpuMicros: number
}

async function cpuSeconds(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)/m.exec(text)?.[1])
}

/** `program` is the process whose CPU time counts, where another one is asked. */
export async function measure(url: string, load: Load, seconds: number, program = url): Promise<Measured> {
  const before = await cpuSeconds(program)
  const settings = { ...load, port: Number(new URL(url).port), seconds }
  const { stdout } = await run(process.execPath, [script('./bench-client.ts'), JSON.stringify(settings)])
  const after = await cpuSeconds(program)
  const result = JSON.parse(stdout) as Record<'answered' | 'rejected' | 'seconds', number>
  if (result.rejected > 0)
    throw new Error(
      `${result.rejected} responses had another status than ${load.status}, or an error of a tool`,
    )
  return {
    perSecond: result.answered / result.seconds,
    cpuMicros: ((after - before) / result.answered) * 1e6,
  }
}

/** A program of this folder that prints its address once it listens. */
export async function startBare(name: string, args: readonly string[]) {
  const child = spawn(process.execPath, [script(name), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: line.toString().trim(), stop: () => child.kill() }
}

/** Alternating rounds of the api and the bare server, so that other work on the machine hits both. */
export async function comparePair(
  row: Pick<BenchRow, 'what' | 'aim'>,
  urls: { readonly api: string; readonly bare: string },
  load: Load,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<BenchRow> {
  const [ratios, ours, theirs]: [number[], number[], number[]] = [[], [], []]
  for (let round = 1; round <= rounds; round++) {
    const bare = await measure(urls.bare, load, seconds)
    const api = await measure(urls.api, load, seconds)
    ratios.push(api.perSecond / bare.perSecond)
    ours.push(api.cpuMicros)
    theirs.push(bare.cpuMicros)
    const text = ({ perSecond, cpuMicros }: Measured) =>
      `${perSecond.toFixed(0)}/s ${cpuMicros.toFixed(0)} µs`
    console.log(`${row.what}, round ${round}: api ${text(api)}, bare ${text(bare)}`)
  }
  const times = median(ours.map((micros, at) => micros / (theirs[at] ?? Number.NaN)))
  return {
    ...row,
    measured: `${spread(ratios)} of bare`,
    cpu: `${median(ours).toFixed(0)} µs, bare ${median(theirs).toFixed(0)} µs, ${times.toFixed(2)} times`,
  }
}

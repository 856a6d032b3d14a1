import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { startParts } from '../support/parts.ts'
import { launchOf, type StartFrom } from '../support/processes.ts'
import { percentile, until } from '../support/until.ts'
import { report } from './bench-report.ts'
import { cpuMsOf } from './postgres-cpu.ts'

/** What the api costs until it is ready: CPU time of all its threads, resident memory and wall time. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 9)

interface Variant {
  readonly name: string
  readonly from?: StartFrom
  readonly nodeOptions?: readonly string[]
  readonly compileCache: boolean
}

const VARIANTS: readonly Variant[] = [
  { name: 'sources', from: 'sources', compileCache: false },
  { name: 'bundle', compileCache: false },
  { name: 'bundle, compile cache', compileCache: true },
  { name: 'bundle, source maps', nodeOptions: ['--enable-source-maps'], compileCache: false },
]

interface Start {
  readonly cpuMs: number
  readonly wallMs: number
  readonly rssMb: number
}

const parts = await startParts()

async function measureStart({ from, nodeOptions = [], compileCache }: Variant): Promise<Start> {
  const { file, cwd, environment } = await launchOf('api', from)
  const { NODE_COMPILE_CACHE, ...uncached } = environment
  const env = { ...uncached, ...(compileCache && { NODE_COMPILE_CACHE }), ...parts.environment }
  const began = performance.now()
  const child = spawn(process.execPath, [...nodeOptions, file], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  try {
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the api ended before it was ready')))
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { msg, address } = JSON.parse(line) as { msg?: string; address?: string }
        if (msg === 'listening' && address !== undefined) resolve(address)
      })
    })
    await until('the api is ready', async () => (await fetch(`${url}/readyz`)).ok)
    return { ...readUsage(child.pid ?? 0), wallMs: performance.now() - began }
  } finally {
    child.kill('SIGTERM')
    await exited
  }
}

function readUsage(pid: number) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return {
    cpuMs: cpuMsOf(pid) ?? Number.NaN,
    rssMb: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1_024,
  }
}

const starts = VARIANTS.map((): Start[] => [])
try {
  // The variants take turns, so that other work on the machine disturbs all of them alike. The first round is not counted.
  for (let round = 0; round <= ROUNDS; round++)
    for (const [index, variant] of VARIANTS.entries()) {
      const start = await measureStart(variant)
      if (round > 0) starts[index]?.push(start)
    }
} finally {
  await parts.stop()
}
report(
  VARIANTS.map(({ name }, index) => {
    const of = (pick: (start: Start) => number, share = 0.5) =>
      percentile((starts[index] ?? []).map(pick), share).toFixed(0)
    const cpu = ({ cpuMs }: Start) => cpuMs
    return {
      what: `start of the api, ${name}`,
      measured: `RSS ${of(({ rssMb }) => rssMb)} MB, ready after ${of(({ wallMs }) => wallMs)} ms`,
      aim: name.startsWith('bundle') ? '600 ms of CPU' : '',
      cpu: `${of(cpu)} ms (${of(cpu, 0)} to ${of(cpu, 1)})`,
    }
  }),
)

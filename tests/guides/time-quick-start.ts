import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { quickStartScript } from './run-guide.ts'

/** From a clean checkout to a delivered and paid order: follows the quick start of README.md and prints the seconds of each step. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const AIM_SECONDS = 300

const folder = mkdtempSync(join(tmpdir(), 'quick-start-'))
const steps: { readonly step: string; readonly seconds: number }[] = []

const print = (line: string) => process.stdout.write(`${line}\n`)

async function timed<T>(step: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now()
  const result = await work()
  const seconds = (performance.now() - began) / 1_000
  steps.push({ step, seconds })
  print(`${seconds.toFixed(1).padStart(7)} s  ${step}`)
  return result
}

async function run(command: string, args: readonly string[]): Promise<void> {
  const child = spawn(command, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`)
}

/** Starts the marketplace, and returns the line that the reader pastes. */
async function startDev() {
  const child = spawn('npm', ['run', 'dev'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = once(child, 'close')
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.trim().startsWith('export API=')) continue
    child.stdout.resume()
    return { pasted: line, stop: () => stop(child.pid ?? 0, ended) }
  }
  throw new Error('npm run dev ended before it was ready')
}

async function stop(pid: number, ended: Promise<unknown>): Promise<void> {
  process.kill(-pid, 'SIGINT')
  await ended
}

/** Runs the blocks, and measures each from its mark to the next one. */
async function runBlocks(pasted: string): Promise<void> {
  const { script, mark } = quickStartScript()
  const shell = spawn('bash', ['-c', `${pasted}\n${script}\nprintf '\\n${mark} end\\n'`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const closed = once(shell, 'close')
  let [began, block] = [performance.now(), '']
  for await (const line of createInterface({ input: shell.stdout })) {
    if (!line.startsWith(mark)) {
      if (line !== '') print(`           ${line}`)
      continue
    }
    const seconds = (performance.now() - began) / 1_000
    if (block !== '') {
      steps.push({ step: block, seconds })
      print(`${seconds.toFixed(1).padStart(7)} s  ${block}`)
    }
    ;[began, block] = [performance.now(), `block ${line.slice(mark.length + 1)}`]
  }
  const [code] = await closed
  if (code !== 0) throw new Error(`${block} ended with ${code}`)
}

const load = () => loadavg()[0]?.toFixed(1)
const loadBefore = load()
try {
  await timed('git clone', () => run('git', ['clone', '--quiet', ROOT, folder]))
  await timed('npm ci', () => run('npm', ['ci', '--no-audit', '--no-fund']))
  const dev = await timed('npm run dev, until it is ready', startDev)
  try {
    await timed('the quick start: an order delivered and paid out', () => runBlocks(dev.pasted))
  } finally {
    await dev.stop()
  }
  const all = steps
    .filter(({ step }) => !step.startsWith('block'))
    .reduce((sum, { seconds }) => sum + seconds, 0)
  const install = steps.find(({ step }) => step === 'npm ci')?.seconds ?? 0
  print(
    `${all.toFixed(1).padStart(7)} s  in all, ${(all - install).toFixed(1)} s without npm ci; the aim is ${AIM_SECONDS} s`,
  )
  if (all > AIM_SECONDS) process.exitCode = 1
  print(`         load of the machine: ${loadBefore} before, ${load()} after`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

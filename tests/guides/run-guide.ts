import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterStart, type Block, blocksOf, isRun, readPage } from './guide-blocks.ts'
import { differences, jsonIn, parseExample } from './match-response.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TIMEOUT_MS = 280_000
const MARK = '== block'
/** Ends at the first failure, with every program that a block started. */
const PREFACE = `set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT`
/** Takes the place of the reader's browser. */
const BROWSER = `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'tests/guides/allow-in-browser.ts')}' "$@"\n`

interface Running {
  readonly api: string
  readonly control: string
  readonly sample_service: { readonly id: string }
}

/** Runs a script with the line that `npm run dev` prints, in a folder that finds the packages of the checkout. */
async function runScript(dev: Running, script: string) {
  const cwd = mkdtempSync(join(tmpdir(), 'guide-'))
  // A file of a guide imports what it would import in the folder of the checkout.
  for (const name of ['node_modules', 'package.json', 'packages'])
    symlinkSync(join(ROOT, name), join(cwd, name))
  const browser = join(cwd, 'browser')
  writeFileSync(browser, BROWSER, { mode: 0o755 })
  const whole = `${PREFACE}\n${script}`
  const env = { ...process.env, ...environmentOf(dev), BROWSER: browser }
  const shell = spawn('bash', ['-c', whole], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
  })
  try {
    const [out, err, [code]] = await Promise.all([
      text(shell.stdout),
      text(shell.stderr),
      once(shell, 'close'),
    ])
    return { out, err, code: code as number | null }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

/** The pasted line, and ports for the programs of a guide beside those of the marketplace. */
function environmentOf({ api, control, sample_service }: Running) {
  const port = Number(new URL(control).port) + 100
  const ports = { PORT: String(port), CALLBACK_PORT: String(port + 1) }
  return { API: api, CONTROL: control, SAMPLE_SERVICE: sample_service.id, ...ports }
}

/** Runs commands, and returns what they print. */
export async function runCommands(dev: Running, commands: readonly string[]): Promise<string> {
  const { out, err, code } = await runScript(dev, commands.join('\n'))
  if (code !== 0) throw new Error(`The commands ended with ${code}:\n${out}\n${err}`)
  return out
}

/** A block as commands: a program is written to its file. */
const commandsOf = ({ text: content, file }: Block): string =>
  file === undefined ? content : `cat > ${file} <<'END_OF_FILE'\n${content}END_OF_FILE\n`

export interface GuideRun {
  /** What all blocks printed. */
  readonly output: string
  /** How many blocks were run, and how many examples of responses were compared. */
  readonly ran: number
  readonly compared: number
}

/** The blocks as one script, which prints a mark before each. */
const scriptOf = (blocks: readonly Block[]): string =>
  blocks
    .map((block, at) => (isRun(block) ? `printf '\\n${MARK} ${at}\\n'\n${commandsOf(block)}` : ''))
    .join('\n')

/** Runs the blocks of a page, or of its part, against a running marketplace. Every example must match what was printed. */
export async function runGuide(
  dev: Running,
  path: string,
  part: (page: string) => string = (page) => page,
): Promise<GuideRun> {
  const blocks = afterStart(blocksOf(part(readPage(path)), path), path)
  const { out, err, code } = await runScript(dev, scriptOf(blocks))
  const printed = outputs(out)
  if (code !== 0) {
    const last = blocks[Math.max(...printed.keys())]
    throw new Error(
      `${path}, block of line ${last?.line}, ended with ${code}:\n${out.slice(-3_000)}\n${err.slice(-3_000)}`,
    )
  }
  const examples = blocks.flatMap((block, at) => exampleAfter(blocks, block, at))
  for (const { block, of } of examples) compare(path, block, printed.get(of) ?? '')
  return { output: [...printed.values()].join(''), ran: printed.size, compared: examples.length }
}

/** A response follows the command that printed it. Other examples, such as settings of a program, must be JSON. */
function exampleAfter(blocks: readonly Block[], block: Block, at: number) {
  if (block.kind !== 'json') return []
  if (block.isDirectlyAfter && blocks[at - 1]?.kind === 'sh') return [{ block, of: at - 1 }]
  parseExample(block.text)
  return []
}

/** What each block printed. */
function outputs(out: string): ReadonlyMap<number, string> {
  const parts = out.split(new RegExp(`^${MARK} (\\d+)\\n`, 'm'))
  const entries = parts.flatMap((part, at) =>
    at % 2 === 1 ? [[Number(part), parts[at + 1] ?? ''] as const] : [],
  )
  return new Map(entries)
}

function compare(path: string, { text: example, line }: Block, output: string): void {
  const problems = jsonIn(output).map((response) => differences(parseExample(example), response))
  if (problems.some((one) => one.length === 0)) return
  const said = problems.toSorted((a, b) => a.length - b.length)[0] ?? ['no JSON was printed']
  throw new Error(`${path}:${line} shows a response that differs:\n${said.join('\n')}\nPrinted:\n${output}`)
}

const quickStartOf = (page: string): string => /^## Quick start\n(.*?)^## /ms.exec(page)?.[1] ?? ''

export const runQuickStart = (dev: Running): Promise<GuideRun> => runGuide(dev, 'README.md', quickStartOf)

/** The quick start as a script for a checkout. */
export const quickStartScript = () => {
  const blocks = afterStart(blocksOf(quickStartOf(readPage('README.md')), 'README.md'), 'README.md')
  return { script: `${PREFACE}\n${scriptOf(blocks)}`, mark: MARK }
}

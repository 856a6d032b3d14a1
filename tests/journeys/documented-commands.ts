import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const TIMEOUT_MS = 300_000

interface Running {
  readonly api: string
  readonly control: string
}

const pageAt = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** The shell blocks of a text, without the first one, which starts the marketplace. */
function blocksOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
  if (!/^(npm ci\n)?npm run dev\n$/.test(blocks[0] ?? ''))
    throw new Error('The first block must start the marketplace with npm run dev')
  return blocks.slice(1)
}

/** Runs commands in a shell with the line that `npm run dev` prints, in an empty folder. Returns what they print. */
export async function runCommands(
  { api, control }: Running,
  commands: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const cwd = mkdtempSync(join(tmpdir(), 'commands-'))
  try {
    const script = `set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${commands.join('\n')}`
    const env = { ...process.env, ...environment, API: api, CONTROL: control }
    return (await promisify(execFile)('bash', ['-c', script], { cwd, env, timeout: TIMEOUT_MS })).stdout
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

const payoutIn = (output: string) => ({ output, tx_hash: /tx_hash: '(0x[0-9a-f]{64})'/.exec(output)?.[1] })

/** Runs the quick start of README.md, and returns the payout's transaction hash. */
export async function runQuickStart(dev: Running) {
  const section = /^## Quick start\n(.*?)^## /ms.exec(pageAt('README.md'))?.[1] ?? ''
  return payoutIn(await runCommands(dev, blocksOf(section)))
}

/** Runs the guide for sellers, whose program listens on `port`. */
export async function runSellerGuide(dev: Running, port: number) {
  const blocks = blocksOf(pageAt('docs/guides/first-agent.md'))
  return payoutIn(await runCommands(dev, blocks, { PORT: String(port) }))
}

/** Runs the guide for buyers of a week, and returns the payout's transaction hash. */
export const runWeeklyGuide = async (dev: Running) =>
  payoutIn(await runCommands(dev, blocksOf(pageAt('docs/guides/weekly-workspace.md'))))

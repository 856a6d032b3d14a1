import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

const README = new URL('../../README.md', import.meta.url)
const TIMEOUT_MS = 120_000

/** The shell blocks of the section "Quick start" after the one that installs and starts the marketplace. */
function quickStartBlocks(): string[] {
  const section = /^## Quick start\n(.*?)^## /ms.exec(readFileSync(README, 'utf8'))?.[1] ?? ''
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block)
  if (blocks[0] !== 'npm ci\nnpm run dev\n')
    throw new Error('README.md: the quick start starts with npm run dev')
  return blocks.slice(1)
}

/** Runs the quick start's commands as README.md shows them, and returns the payout's transaction hash. */
export async function runQuickStart({ api, control }: { readonly api: string; readonly control: string }) {
  const script = `set -euo pipefail\n${quickStartBlocks().join('\n')}`
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    env: { ...process.env, API: api, CONTROL: control },
    timeout: TIMEOUT_MS,
  })
  return { output: stdout, tx_hash: /tx_hash: '(0x[0-9a-f]{64})'/.exec(stdout)?.[1] }
}

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findNode20 } from '../packages/install.ts'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const run = promisify(execFile)
const start = (node: string, ...args: string[]) =>
  run(node, args, { cwd: ROOT, env: { ...CHILD_ENVIRONMENT } })

test.each([
  [['apps/dev/src/main.ts', '--help'], '--own-servers'],
  [['packages/admin/src/main.ts', '--help'], 'npm run admin -- <command>'],
  [['packages/cli/src/main.ts', '--help'], 'market <command> --help'],
  [['packages/cli/src/main.ts', 'login', '--help'], 'market login'],
  [['tests/gauntlet/main.ts', '--help'], 'npm run gauntlet'],
  [['tests/load/bench-all.ts', '--help'], 'npm run bench'],
  [['scripts/start.ts', 'api', '--help'], 'npm run start:api'],
])('--help: %j prints its usage on stdout and starts nothing', async (args, text) => {
  const { stdout, stderr } = await start(process.execPath, ...args)
  expect({ usage: stdout.includes(text), stderr }).toEqual({ usage: true, stderr: '' })
})

test.each([[['scripts/check-node.mjs']], [['packages/cli/bin/market.mjs', '--version']]])(
  'Node 20: %j ends with a sentence that names the version to install',
  async (args) => {
    const failed = await start(await findNode20(), ...args).catch((error) => error)
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr).toMatch(
      /^This is Node 20\.\S+, and a checkout of Agent Market needs Node 24\. .*\n$/,
    )
  },
)

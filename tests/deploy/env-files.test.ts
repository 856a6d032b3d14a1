import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readConfig as readApiConfig } from '@market/api/config'
import { envLine } from '@market/platform/settings/env-line'
import { readConfig as readWorkerConfig } from '@market/worker/config'
import { afterAll, expect, test } from 'vitest'
import { deploymentFiles } from '../../scripts/prepare-deployment.ts'

/** Operators load these files with a shell, with Node or with Compose. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'env-files-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const PRINT = 'console.log(JSON.stringify(process.env))'
/** What a shell or Node sets by itself. */
const OWN = new Set(['PWD', 'OLDPWD', 'SHLVL', '_', 'PATH'])
const variablesIn = (json: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(JSON.parse(json) as Record<string, string>).filter(([name]) => !OWN.has(name)),
  )
const env = { PATH: '/usr/bin:/bin' }

const bySh = (file: string) =>
  variablesIn(
    execFileSync('sh', ['-euc', 'set -a; . "$1"; exec "$2" -e "$3"', 'sh', file, process.execPath, PRINT], {
      env,
      encoding: 'utf8',
    }),
  )
const byNode = (file: string) =>
  variablesIn(execFileSync(process.execPath, [`--env-file=${file}`, '-e', PRINT], { env, encoding: 'utf8' }))

function readBoth(name: string, text: string): Record<string, string> {
  const file = join(folder, name)
  writeFileSync(file, text)
  const read = byNode(file)
  expect(bySh(file), name).toEqual(read)
  return read
}

test('deploy:prepare: a shell and Node read the same values from every file, and the programs accept them', () => {
  const files = Object.entries(deploymentFiles())
  const read = Object.fromEntries(files.map(([name, text]) => [name, readBoth(name, text)]))
  const { 'api.env': api = {}, 'worker.env': worker = {}, 'owner.env': owner = {} } = read
  expect(readApiConfig(api).DATABASE_URL).toMatch(/sslmode=verify-full&sslrootcert=/)
  expect(readWorkerConfig(worker).DATABASE_URL).toMatch(/sslmode=verify-full&sslrootcert=/)
  expect(owner['DATABASE_URL']).toMatch(/sslmode=verify-full&sslrootcert=/)
})

test('example files: every setting can be uncommented, and is read alike', () => {
  for (const program of ['api', 'worker']) {
    const example = readFileSync(join(ROOT, `deploy/${program}.env.example`), 'utf8')
    const read = readBoth(`${program}.example`, example.replace(/^#(?=[A-Z][A-Z0-9_]*=)/gm, ''))
    expect(read).toMatchObject({ MARKET_ENV: 'production', EARN_MARKETS: '[]' })
    expect(read['DATABASE_URL']).toMatch(/&sslrootcert=/)
  }
})

test('keys:new: its lines can be sourced', () => {
  const printed = execFileSync(process.execPath, ['apps/worker/src/commands/new-keys.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const read = readBoth('keys', printed)
  expect(read['VAULT_KEYS']).toMatch(/^k-[0-9a-f]{8}:[0-9a-f]{64}$/)
  expect(read['WALLET_SEAL_PRIVATE_KEYS']).not.toBe('')
})

test('envLine: what a shell would interpret is quoted, and what no quotes hold is rejected', () => {
  const values = ['a&b', 'a b', '$HOME', '`id`', '"x"', '#x', 'a\\b', '*', '~', '[]', '', 'a=b', 'x;y', '!']
  const text = values.map((value, at) => `${envLine(`V${at}`, value)}\n`).join('')
  expect(readBoth('values', text)).toEqual(Object.fromEntries(values.map((value, at) => [`V${at}`, value])))
  expect(() => envLine('X', "it's")).toThrow('X has a quote')
})

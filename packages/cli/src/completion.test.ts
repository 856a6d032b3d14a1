import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { COMMANDS } from './commands.ts'
import { runProgram } from './test-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'cli-completion-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const market = (...args: string[]) => runProgram(args, { XDG_CONFIG_HOME: folder })

/** What bash offers for the last word of the line. */
async function offeredFor(...line: string[]): Promise<string[]> {
  const { out } = await market('completion', 'bash')
  const file = join(folder, 'market.bash')
  writeFileSync(file, out)
  const words = ['market', ...line].map((word) => `'${word}'`).join(' ')
  const script = `source '${file}'; COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _market; printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
    .split('\n')
    .filter((one) => one !== '')
}

describe('completion bash', () => {
  test.each([
    [['logi'], ['login']],
    [['orders', 'app'], ['approve']],
    [['orders', '--sta'], ['--status']],
    [['orders', 'show', 'ord_1', '--js'], ['--json']],
    [['--json', 'services', 'cr'], ['create']],
    [['call', 'getPlat'], ['getPlatformStats']],
    [['completion', 'f'], ['fish']],
    [['orders', '--status', 'paid', '--bou'], ['--bought']],
  ])('market %j offers %j', async (line, expected) => {
    expect(await offeredFor(...line)).toEqual(expected)
  })

  test('the first word is any command', async () => {
    const first = new Set(COMMANDS.map(({ name }) => name.split(' ')[0]))
    expect(await offeredFor('')).toEqual(expect.arrayContaining([...first]))
  })
})

test.each(['zsh', 'fish'])('completion %s: has every command and option', async (shell) => {
  const { status, out } = await market('completion', shell)
  expect(status).toBe(0)
  for (const { name, options = {} } of COMMANDS)
    for (const part of [...name.split(' '), ...Object.keys(options).map((option) => `--${option}`)])
      expect(out).toContain(part)
})

test('completion: an unknown shell ends with 2 and names the known ones', async () => {
  expect(await market('completion', 'tcsh')).toMatchObject({
    status: 2,
    error: expect.stringContaining('bash, zsh, fish'),
  })
})

describe('call', () => {
  test('without an operation lists those that this program calls', async () => {
    const { out } = await market('call', '--json')
    const ids = JSON.parse(out).map(({ id }: { id: string }) => id)
    expect(ids).toEqual(
      expect.arrayContaining(['listBounties', 'getMarketData', 'listEarnPools', 'generate']),
    )
    for (const other of ['turnSwitch', 'uploadFile', 'hireService']) expect(ids).not.toContain(other)
  })

  test('--help describes one operation', async () => {
    expect((await market('call', 'getService', '--help')).out).toMatch(
      /^market call getService service_id=…\n\nGet a service\./,
    )
  })

  test.each([
    [['getServce'], /getServce is not an operation.*Did you mean getService\?/],
    [['turnSwitch'], /turnSwitch is not an operation for this program/],
    [['getService', 'svc_1'], /svc_1 is not a field\. Write field=value/],
    [['getService'], /service_id is required/],
    [['listBounties', 'limit=many'], /limit must be/],
    [['listBounties', 'limti=5'], /Unknown field: limti\. Did you mean limit\?/],
  ])('%j ends with 2 and a sentence, and sends nothing', async (args, sentence) => {
    const { status, out, error } = await runProgram(['call', ...args], {
      XDG_CONFIG_HOME: folder,
      MARKET_API_URL: 'http://127.0.0.1:2',
    })
    expect({ status, out }).toEqual({ status: 2, out: '' })
    expect(error).toMatch(sentence)
  })
})

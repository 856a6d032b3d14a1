import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { type RoundRobin, startRoundRobin } from './round-robin.ts'

/** The server scenarios of the official conformance tool. It knows the protocol versions up to 2025-11-25. */

const run = promisify(execFile)
const require = createRequire(import.meta.url)
const TOOL = require.resolve('@modelcontextprotocol/conformance/dist/index.js')

const APPLIES = ['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection']

/** Scenarios that do not apply, and what each needs. */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  'special tools, such as test_simple_text': [
    'tools-call-simple-text',
    'tools-call-image',
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-mixed-content',
    'tools-call-with-logging',
    'tools-call-error',
    'tools-call-with-progress',
    'json-schema-2020-12',
    'server-sse-polling',
  ],
  'requests from the server to the client, which a server without sessions cannot send': [
    'tools-call-sampling',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
  ],
  'event streams; our responses are plain JSON': ['server-sse-multiple-streams'],
  'logging, which we do not offer': ['logging-set-level'],
  'completion, which we do not offer': ['completion-complete'],
  'resources, which we do not offer': [
    'resources-list',
    'resources-read-text',
    'resources-read-binary',
    'resources-templates-read',
    'resources-subscribe',
    'resources-unsubscribe',
  ],
  'prompts, which we do not offer': [
    'prompts-list',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-embedded-resource',
    'prompts-get-with-image',
  ],
}

let market: Market
let folder: string
/** Adds the credential, which the tool cannot send. */
let proxy: RoundRobin
beforeAll(async () => {
  market = await startMarket()
  folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const { apiKey } = await makeAgent(market)
  proxy = await startRoundRobin([market.url], { authorization: `Bearer ${apiKey}` })
})
afterAll(async () => {
  await proxy?.stop()
  await market?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const conformance = async (...args: readonly string[]): Promise<string> => {
  const { stdout, stderr } = await run(process.execPath, [TOOL, ...args], { cwd: folder }).catch(
    (error: { stdout: string; stderr: string }) => error,
  )
  return stdout + stderr
}

test('conformance: every server scenario of the tool is run or has a reason', async () => {
  const listed = await conformance('list', '--server')
  const names = [...listed.matchAll(/^ +- ([\w-]+) \[/gm)].map(([, name]) => name)
  expect(names.toSorted()).toEqual([...APPLIES, ...Object.values(NEEDS).flat()].toSorted())
})

describe.each([
  ['the unified server', '/mcp'],
  ['the anonymous server', '/api/x402/mcp'],
])('conformance: %s', (_, path) => {
  test.each(APPLIES)('passes %s', async (scenario) => {
    const output = await conformance('server', '--url', `${proxy.url}${path}`, '--scenario', scenario)
    expect(output).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed, 0 warnings/)
  })
})

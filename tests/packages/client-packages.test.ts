import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OLDEST_CLIENTS } from '@market/contract/client-versions'
import { mountClientPackages } from '@market/http/client-packages'
import { sendErrorsInEnvelope } from '@market/http/envelope'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packClients } from '../../scripts/pack.ts'
import { run } from './install.ts'

/** The packages of its clients that a marketplace serves. */

let folder: string
let packed: Awaited<ReturnType<typeof packClients>>
let url: string
const app = Fastify()
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'packages-'))
  packed = await packClients(folder)
  sendErrorsInEnvelope(
    app,
    () => {},
    async () => undefined,
  )
  mountClientPackages(app, 'https://api.example', [join(folder, 'missing'), folder])
  url = await app.listen({ host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true, force: true })
})

const get = (path: string) => fetch(url + path, { redirect: 'manual' })

test('GET /packages: each client with its version, the oldest one that works, integrity and addresses', async () => {
  const { data } = (await (await get('/packages')).json()) as { data: unknown[] }
  expect(data).toEqual(
    packed.map(({ name, version, file, size, integrity }) => ({
      ...{
        name: `@market/${name}`,
        version,
        oldest_supported: OLDEST_CLIENTS[name as 'sdk'],
        size,
        integrity,
      },
      ...{
        url: `https://api.example/packages/${file}`,
        latest_url: `https://api.example/packages/${name}.tgz`,
      },
    })),
  )
  expect(packed.map(({ name }) => name)).toEqual(['sdk', 'cli', 'mcp-stdio'])
})

test('GET /packages/{file}: a package under its version never changes, and the name without one leads to it', async () => {
  for (const { name, version, file, integrity } of packed) {
    expect(version).toMatch(/^0\.1\.0-dev\.[0-9a-f]{10}$/)
    const moved = await get(`/packages/${name}.tgz`)
    expect([moved.status, moved.headers.get('location')]).toEqual([302, `/packages/${file}`])
    const found = await get(`/packages/${file}`)
    expect(found.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    const bytes = Buffer.from(await found.arrayBuffer())
    expect(`sha512-${createHash('sha512').update(bytes).digest('base64')}`).toBe(integrity)
  }
})

test.each(['sdk-9.9.9.tgz', 'packages.json', '..%2Fpackages.json', 'sdk'])(
  'GET /packages/%s: 404 names what there is',
  async (file) => {
    const response = await get(`/packages/${file}`)
    expect(response.status).toBe(404)
    expect(await response.text()).toContain('Install sdk.tgz, cli.tgz, mcp-stdio.tgz')
  },
)

test('GET /packages: 503 says how a checkout gets them', async () => {
  const without = Fastify()
  sendErrorsInEnvelope(
    without,
    () => {},
    async () => undefined,
  )
  mountClientPackages(without, 'https://api.example', [])
  const { statusCode, body } = await without.inject('/packages/sdk.tgz')
  expect([statusCode, body]).toEqual([503, expect.stringContaining('npm run pack:clients')])
  await without.close()
})

/** Some of what each bundle has. */
const BUNDLED: Readonly<Record<string, readonly string[]>> = {
  sdk: ['viem', '@noble/curves', '@solana/addresses'],
  cli: ['viem', 'zod', 'openid-client', 'oauth4webapi'],
  'mcp-stdio': ['zod', '@modelcontextprotocol/server'],
}

test('a package has its licence, the licences of what is bundled, and nothing of a workspace', async () => {
  for (const { name, file } of packed) {
    const into = join(folder, `unpacked-${name}`)
    mkdirSync(into)
    await run('tar', ['xzf', join(folder, file), '-C', into])
    const read = (path: string) => readFileSync(join(into, 'package', path), 'utf8')
    expect(read('LICENSE')).toContain('Apache License')
    expect(read('NOTICE')).toMatch(/^Agent Market\nCopyright 2026 The Agent Market authors\n/)
    const notice = read('NOTICE')
    for (const one of BUNDLED[name] ?? [])
      expect(notice).toMatch(new RegExp(`^${one} [\\d.]+ \\((MIT|Apache-2.0)\\)$`, 'm'))
    const manifest = JSON.parse(read('package.json')) as Record<string, unknown>
    expect(manifest).toMatchObject({ license: 'Apache-2.0', name: `@market/${name}` })
    for (const key of ['dependencies', 'devDependencies', 'scripts', 'private'])
      expect([name, manifest[key]]).toEqual([name, undefined])
  }
})

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { mountClientPackages } from '@market/http/client-packages'
import Fastify from 'fastify'
import { packClients } from '../../scripts/pack.ts'

export const run = promisify(execFile)

const CACHE = fileURLToPath(new URL('../../.cache/node20/', import.meta.url))

/** The oldest Node that clients run on: one of this machine, else one from npm that is installed once. */
export async function findNode20(): Promise<string> {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', '/usr/local/bin']
  for (const path of folders.map((folder) => join(folder, 'node')))
    if (existsSync(path) && (await isNode20(path))) return path
  const installed = join(CACHE, 'node_modules/node/bin/node')
  if (!existsSync(installed)) {
    mkdirSync(CACHE, { recursive: true })
    writeFileSync(join(CACHE, 'package.json'), '{"private":true,"allowScripts":{"node":true}}')
    await npm(CACHE, 'install', 'node@20')
  }
  return installed
}

const isNode20 = async (path: string): Promise<boolean> =>
  (await run(path, ['--version'])).stdout.startsWith('v20.')

const npm = (cwd: string, ...args: string[]) =>
  run('npm', [...args, '--no-audit', '--no-fund'], {
    cwd,
    // The settings of the npm that runs this test name another folder.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name))),
  })

/** Nobody responds there: what is installed comes from the marketplace alone. */
const NO_REGISTRY = ['--registry', 'http://127.0.0.1:1']

/** Packs a client, serves it as the api does, and installs it by its address, with nothing else, in a folder of its own. */
export async function installClient(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `installed-${name}-`))
  const served = join(folder, 'served')
  await packClients(served, [name])
  const origin = Fastify()
  mountClientPackages(origin, 'https://api.example', [served])
  const address = await origin.listen({ host: '127.0.0.1', port: 0 })
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  const url = `${address}/packages/${name}.tgz`
  await npm(folder, 'install', url, ...NO_REGISTRY)
  return {
    folder,
    /** Where it can be installed from until it is removed. */
    url,
    package: join(folder, 'node_modules/@market', name),
    write: (file: string, text: string): string => {
      const path = join(folder, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      return path
    },
    remove: async () => {
      await origin.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { packClient } from '../../scripts/pack.ts'

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

/** Packs a client and installs the tarball, with nothing else, in a folder of its own. */
export async function installClient(name: string) {
  const folder = mkdtempSync(join(tmpdir(), `installed-${name}-`))
  const tarball = await packClient(name, folder)
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}')
  await npm(folder, 'install', '--offline', tarball)
  return {
    folder,
    package: join(folder, 'node_modules/@market', name),
    write: (file: string, text: string): string => {
      const path = join(folder, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      return path
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

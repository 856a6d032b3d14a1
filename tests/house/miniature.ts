import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A house in small that keeps every rule: each floor, two stairs, a port with its adapter, the wings. */
const SOUND: Readonly<Record<string, string>> = {
  'apps/api/src/main.ts': `import '@market/http/server'\nimport '@market/platform/limiter'\nimport './config.ts'`,
  'apps/api/src/config.ts': `export const PORT = 1`,
  'apps/dev/src/main.ts': `import '@market/api/main'\nimport '@market/testing/postgres'`,
  'packages/http/src/server.ts': `import '@market/contract/limits'\nimport '@market/handlers/execute'\nimport 'fastify'`,
  'packages/mcp/src/mount.ts': `import '@market/contract/limits'\nimport '@market/handlers/execute'`,
  'packages/handlers/src/execute.ts': `import '@market/contract/limits'\nimport '@market/database/transact'\nimport '@market/market/agents'`,
  'packages/market/src/agents/index.ts': `export { register } from './register-agent.ts'`,
  'packages/market/src/agents/register-agent.ts': `import '../accounts/index.ts'\nimport '../context.ts'\nimport './store.ts'\nexport const register = 1`,
  'packages/market/src/agents/store.ts': `import '@market/database/transact'\nimport 'kysely'\nexport const rows = 1`,
  'packages/market/src/accounts/index.ts': `export { save } from './save-account.ts'`,
  'packages/market/src/accounts/save-account.ts': `import '../context.ts'\nexport const save = 1`,
  'packages/market/src/context.ts': `import '@market/database/transact'\nimport './ports/limiter.ts'`,
  'packages/market/src/ports/limiter.ts': `import '@market/kernel/ids'\nexport const limits = 1`,
  'packages/platform/src/limiter.ts': `import '@market/kernel/ids'\nimport '@market/market/ports/limiter'`,
  'packages/database/src/transact.ts': `import '@market/kernel/ids'\nimport 'kysely'\nimport 'pg'`,
  'packages/database/src/tables.ts': `export const tables = 1`,
  'packages/kernel/src/ids.ts': `import 'node:crypto'\nexport const id = 1`,
  'packages/contract/src/limits.ts': `import 'zod'`,
  'packages/testing/src/postgres.ts': `import '@market/database/transact'`,
}

const STRANGERS = ['fastify', 'kysely', 'pg', 'viem', 'zod']

export interface Miniature {
  readonly folder: string
  /** Changes files while `look` runs, then puts the sound house back. */
  plant<T>(files: Readonly<Record<string, string>>, look: () => Promise<T>): Promise<T>
  remove(): Promise<void>
}

export async function buildMiniature(): Promise<Miniature> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'house-')))
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `${text}\n`)
  }
  for (const [path, text] of Object.entries(SOUND)) await write(path, text)
  await mkdir(join(folder, 'node_modules/@market'), { recursive: true })
  for (const home of new Set(Object.keys(SOUND).map((path) => path.split('/').slice(0, 2).join('/')))) {
    const name = home.split('/')[1] ?? ''
    // The market's own list of doors is part of what is tried; the others open every file.
    if (name === 'market') await cp(`${home}/package.json`, join(folder, home, 'package.json'))
    else await write(`${home}/package.json`, manifest(`@market/${name}`, { './*': './src/*.ts' }))
    await symlink(join(folder, home), join(folder, 'node_modules/@market', name))
  }
  for (const name of STRANGERS) {
    await write(`node_modules/${name}/package.json`, manifest(name, { '.': './index.js' }))
    await write(`node_modules/${name}/index.js`, 'export {}')
  }
  return {
    folder,
    async plant(files, look) {
      for (const [path, text] of Object.entries(files)) await write(path, [SOUND[path], text].join('\n'))
      try {
        return await look()
      } finally {
        for (const path of Object.keys(files)) {
          const sound = SOUND[path]
          if (sound === undefined) await rm(join(folder, path))
          else await write(path, sound)
        }
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

const manifest = (name: string, exports: object) => JSON.stringify({ name, type: 'module', exports })

import { cp, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { MODULES } from '../../architecture.rules.ts'

/** A small project that keeps every rule: each layer, modules that import each other, a port with its adapter. */
const FILES: Readonly<Record<string, string>> = {
  'apps/api/src/main.ts': `import '@market/http/server'\nimport '@market/platform/limiter'\nimport './config.ts'`,
  'apps/api/src/config.ts': `export const PORT = 1`,
  'apps/dev/src/main.ts': `import '@market/api/main'\nimport '@market/testing/postgres'`,
  'packages/http/src/server.ts': `import '@market/contract/limits'\nimport '@market/handlers/execute'\nimport 'fastify'`,
  'packages/mcp/src/mount.ts': `import '@market/contract/limits'\nimport '@market/handlers/execute'`,
  'packages/handlers/src/execute.ts': `import '@market/contract/limits'\nimport '@market/database/transact'\nimport '@market/work/messages'`,
  'packages/work/src/messages/index.ts': `export { send } from './send-message.ts'`,
  'packages/work/src/messages/send-message.ts': `import '@market/trade/orders'\nexport const send = 1`,
  'packages/trade/src/orders/index.ts': `export { create } from './create-order.ts'`,
  'packages/trade/src/orders/create-order.ts': `import '@market/files/uploads'\nimport '@market/identity/agents'\nimport '@market/money/ledger'\nexport const create = 1`,
  'packages/files/src/uploads/index.ts': `export { store } from './store-upload.ts'`,
  'packages/files/src/uploads/store-upload.ts': `import '@market/core/context'\nimport 'file-type'\nexport const store = 1`,
  'packages/money/src/ledger/index.ts': `export { post } from './post.ts'`,
  'packages/money/src/ledger/post.ts': `import '@market/core/audit'\nexport const post = 1`,
  'packages/core/src/audit/index.ts': `export { record } from './record.ts'`,
  'packages/core/src/audit/record.ts': `import '../context.ts'\nexport const record = 1`,
  'packages/identity/src/agents/index.ts': `export { register } from './register-agent.ts'`,
  'packages/identity/src/agents/register-agent.ts': `import '../accounts/index.ts'\nimport '@market/core/context'\nimport './store.ts'\nexport const register = 1`,
  'packages/identity/src/agents/store.ts': `import '@market/database/transact'\nimport 'kysely'\nexport const rows = 1`,
  'packages/identity/src/accounts/index.ts': `export { save } from './save-account.ts'`,
  'packages/identity/src/accounts/save-account.ts': `import '@market/core/context'\nexport const save = 1`,
  'packages/core/src/context.ts': `import '@market/database/transact'\nimport './ports/limiter.ts'`,
  'packages/core/src/ports/limiter.ts': `import '@market/kernel/ids'\nexport const limits = 1`,
  'packages/platform/src/limiter.ts': `import '@market/kernel/ids'\nimport '@market/core/ports/limiter'`,
  'packages/database/src/transact.ts': `import '@market/kernel/ids'\nimport 'kysely'\nimport 'pg'`,
  'packages/database/src/tables.ts': `export const tables = 1`,
  'packages/kernel/src/ids.ts': `import 'node:crypto'\nexport const id = 1`,
  'packages/contract/src/limits.ts': `import 'zod'`,
  'packages/mcp-stdio/src/main.ts': `import '@market/contract/limits'`,
  'packages/testing/src/postgres.ts': `import '@market/database/transact'`,
}

const LIBRARIES = ['@aws-sdk/client-s3', 'fastify', 'file-type', 'kysely', 'pg', 'viem', 'zod']

export interface SampleProject {
  readonly folder: string
  /** Changes files while `check` runs, then restores them. */
  change<T>(files: Readonly<Record<string, string>>, check: () => Promise<T>): Promise<T>
  remove(): Promise<void>
}

export async function buildSampleProject(): Promise<SampleProject> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'architecture-')))
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), `${text}\n`)
  }
  for (const [path, text] of Object.entries(FILES)) await write(path, text)
  await mkdir(join(folder, 'node_modules/@market'), { recursive: true })
  for (const home of new Set(Object.keys(FILES).map((path) => path.split('/').slice(0, 2).join('/')))) {
    const name = home.split('/')[1] ?? ''
    // What the domain packages export is part of what is checked; the others export every file.
    if (Object.hasOwn(MODULES, name)) await cp(`${home}/package.json`, join(folder, home, 'package.json'))
    else await write(`${home}/package.json`, manifest(`@market/${name}`, { './*': './src/*.ts' }))
    await symlink(join(folder, home), join(folder, 'node_modules/@market', name))
  }
  for (const name of LIBRARIES) {
    await write(`node_modules/${name}/package.json`, manifest(name, { '.': './index.js' }))
    await write(`node_modules/${name}/index.js`, 'export {}')
  }
  return {
    folder,
    async change(files, check) {
      for (const [path, text] of Object.entries(files)) await write(path, [FILES[path], text].join('\n'))
      try {
        return await check()
      } finally {
        for (const path of Object.keys(files)) {
          const original = FILES[path]
          if (original === undefined) await rm(join(folder, path))
          else await write(path, original)
        }
      }
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

const manifest = (name: string, exports: object) => JSON.stringify({ name, type: 'module', exports })

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { envLine } from '../packages/platform/src/settings/env-line.ts'
import { newKeySettings } from '../packages/platform/src/vault/new-keys.ts'

type Settings = Readonly<Record<string, string>>

const FOLDER = new URL('../deploy/', import.meta.url)

/** The text of an environment file with new values for some of its lines. */
const fill = (text: string, values: Settings): string =>
  text.replace(/^([A-Z]\w*)=.*$/gm, (line, name: string) =>
    values[name] === undefined ? line : envLine(name, values[name]),
  )

const linesOf = (settings: Settings): string =>
  Object.entries(settings)
    .map(([name, value]) => `${envLine(name, value)}\n`)
    .join('')

/** Every file that compose.yaml reads, with new random keys and passwords. */
export function deploymentFiles(): Readonly<Record<string, string>> {
  const password = () => randomBytes(24).toString('hex')
  const [owner, storageId, storageSecret] = [password(), password(), password()]
  const roles = { api: password(), worker: password() }
  const keys = newKeySettings()
  const storage = { S3_ACCESS_KEY_ID: storageId, S3_SECRET_ACCESS_KEY: storageSecret }
  const program = (name: 'api' | 'worker') => {
    const example = readFileSync(new URL(`${name}.env.example`, FOLDER), 'utf8').replace(
      '<password>',
      roles[name],
    )
    return fill(example, { ...keys.both, ...keys[name], ...storage })
  }
  const database = `postgres://market_owner:${owner}@postgres:5432/market?sslmode=verify-full&sslrootcert=/run/certificates/ca.crt`
  return {
    'api.env': program('api'),
    'worker.env': program('worker'),
    'web.env': readFileSync(new URL('web.env.example', FOLDER), 'utf8'),
    'owner.env': linesOf({
      DATABASE_URL: database,
      API_ROLE_PASSWORD: roles.api,
      WORKER_ROLE_PASSWORD: roles.worker,
    }),
    'postgres.env': linesOf({ POSTGRES_PASSWORD: owner }),
    's3.env': linesOf({ ROOT_ACCESS_KEY: storageId, ROOT_SECRET_KEY: storageSecret }),
    'pgbouncer.env': linesOf({ API_ROLE_PASSWORD: roles.api }),
  }
}

if (import.meta.main) {
  const files = Object.entries(deploymentFiles())
  const found = files.map(([name]) => name).filter((name) => existsSync(new URL(name, FOLDER)))
  if (found.length > 0) {
    // New keys would make everything unreadable that the old ones sealed.
    process.stderr.write(`deploy/ already has ${found.join(', ')}. Nothing was written.\n`)
    process.exit(1)
  }
  for (const [name, text] of files) writeFileSync(new URL(name, FOLDER), text, { mode: 0o600 })
  process.stdout.write(
    `Wrote ${files.map(([name]) => name).join(', ')} to ${fileURLToPath(FOLDER)}.\nNext: set the addresses and IDP_… in api.env, BASE_URL in worker.env, APP_URL in web.env, and keep a copy of WALLET_SEAL_PRIVATE_KEYS offline.\n`,
  )
}

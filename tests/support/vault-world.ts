import { spawn } from 'node:child_process'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SealContext, SeedOpener, Vault } from '@market/core/ports/vault'
import { urlOfRole } from '@market/database/roles'
import { EVER } from '@market/kernel/clock'
import { walletSealPrivateKeys } from '@market/platform/settings/vault'
import { newKeySettings } from '@market/platform/vault/new-keys'
import { seedOpener } from '@market/platform/vault/seed-seal'
import { testKeys } from '@market/testing/keys'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { sql } from 'kysely'
import { CHILD_ENVIRONMENT } from './child-environment.ts'
import type { Parts } from './parts.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const AT = new Date('2026-02-03T04:05:06.789Z')
const FOREVER_AHEAD = new Date('2100-01-01T00:00:00.000Z')
const CHUNK = 500

/** Every sealed column and the row context of its values, stated independently of the code. */
export const SEALED = {
  'agents.api_key_sealed': sql`'agents:' || id`,
  'agents.webhook_secret_sealed': sql`'agents:' || id`,
  'agents.previous_webhook_secret_sealed': sql`'agents:' || id`,
  'agent_wallets.secret_sealed': sql`'agent_wallets:' || agent_id || ':' || chain || ':' || address`,
  'requests.response_sealed': sql`'requests:' || scope || ':' || key`,
  'oauth_keys.keys_sealed': sql`'oauth_keys:' || id`,
  'sessions.access_token_sealed': sql`'sessions:' || id`,
  'sessions.refresh_token_sealed': sql`'sessions:' || id`,
} as const

export type Column = keyof typeof SEALED

interface Value {
  readonly place: SealContext
  readonly sealed: Buffer
}

export interface Keys {
  readonly vault: Vault
  readonly seeds: SeedOpener
}

/** The initial plain text of a value: its context. */
export const textOf = ({ row, field }: SealContext): string => JSON.stringify(`${field} of ${row}`)

/** The seed of a wallet, 32 bytes. */
const seedOf = (place: SealContext): Buffer => createHash('sha256').update(textOf(place)).digest()

const newSettings = (id: string) => {
  const settings = newKeySettings()
  return {
    ...settings,
    both: { ...settings.both, VAULT_KEYS: settings.both.VAULT_KEYS.replace(/^[^:]+/, id) },
  }
}

function sessionRow(user: string, seal: (row: string, field: string) => Buffer) {
  const id = user.padEnd(43, '0')
  return {
    id,
    idp_user_id: user,
    access_token_sealed: seal(`sessions:${id}`, 'access_token'),
    refresh_token_sealed: seal(`sessions:${id}`, 'refresh_token'),
    access_expires_at: FOREVER_AHEAD,
    created_at: AT,
    expires_at: FOREVER_AHEAD,
  }
}

/** Old and new keys, the settings of programs that have them, and a database with many sealed values. */
export function vaultWorld({ db, environment }: Parts) {
  const settings = { old: newSettings('k-old'), new: newSettings('k-new') }
  type Name = keyof typeof settings
  /** The settings with these keys, the current one first. What is not rotated stays as in the environment. */
  const settingsOf = (...names: readonly [Name, ...Name[]]) => {
    const join = (read: (one: ReturnType<typeof newSettings>) => string) =>
      names.map((name) => read(settings[name])).join()
    return {
      both: {
        VAULT_KEYS: join(({ both }) => both.VAULT_KEYS),
        API_KEY_HASH_KEYS: join(({ both }) => both.API_KEY_HASH_KEYS),
        X402_CLAIM_KEYS: environment['X402_CLAIM_KEYS'] ?? '',
        ACCESS_TOKEN_KEYS: environment['ACCESS_TOKEN_KEYS'] ?? '',
        FILE_URL_KEYS: environment['FILE_URL_KEYS'] ?? '',
        AUDIT_KEYS: environment['AUDIT_KEYS'] ?? '',
      },
      api: settings[names[0]].api,
      worker: { WALLET_SEAL_PRIVATE_KEYS: join(({ worker }) => worker.WALLET_SEAL_PRIVATE_KEYS) },
    }
  }
  const keysOf = (...names: readonly [Name, ...Name[]]): Keys => {
    const { vault, worker } = testKeys(settingsOf(...names))
    const sealKeys = walletSealPrivateKeys.parse(worker.WALLET_SEAL_PRIVATE_KEYS)
    return { vault, seeds: seedOpener(sealKeys) }
  }
  const environmentOf = (...names: readonly [Name, ...Name[]]) => {
    const { both, api } = settingsOf(...names)
    return { ...environment, TIMEOUT_FACTOR: String(TIMEOUT_FACTOR), ...both, ...api }
  }

  const valuesOf = async (column: Column): Promise<Value[]> => {
    const [table = '', name = ''] = column.split('.')
    const field = name.replace(/_sealed$/, '')
    const { rows } = await sql<{ row: string; sealed: Buffer }>`
      select ${SEALED[column]} as row, ${sql.ref(name)} as sealed from ${sql.table(table)}
      where ${sql.ref(name)} is not null`.execute(db)
    return rows.map(({ row, sealed }) => ({ place: { row, field }, sealed }))
  }

  return {
    keysOf,
    environmentOf,
    /** Of the command, which has the keys and the role of the worker. */
    rotationOf: (...names: readonly [Name, ...Name[]]) => ({
      ...environmentOf(...names),
      DATABASE_URL: urlOfRole(environment['DATABASE_URL'] ?? '', 'worker'),
      ...settingsOf(...names).worker,
    }),
    valuesOf,
    /** How many values of the column are not sealed with the new key. */
    countLeft: async (column: Column): Promise<number> => {
      const { vault, seeds } = keysOf('new')
      const { needsReseal } = column === 'agent_wallets.secret_sealed' ? seeds : vault
      return (await valuesOf(column)).filter(({ sealed }) => needsReseal(sealed)).length
    },
    /** Every value that does not open to what it says where it belongs, or to what was written there last. */
    wrongValues: async ({ vault, seeds }: Keys, wrote: ReadonlyMap<string, string> = new Map()) => {
      const wrong: string[] = []
      for (const column of Object.keys(SEALED) as Column[])
        for (const { place, sealed } of await valuesOf(column)) {
          const isSeed = column === 'agent_wallets.secret_sealed'
          const expected = isSeed
            ? seedOf(place).toString('hex')
            : (wrote.get(textOf(place)) ?? textOf(place))
          const opening = isSeed
            ? seeds.open(sealed, place).then((seed) => seed.toString('hex'))
            : vault.open(sealed, place)
          const opened = await opening.catch((error: Error) => error.message)
          if (opened !== expected) wrong.push(`${column} ${place.row}: ${opened}`)
        }
      return wrong
    },
    /** Creates agents with both secrets, a wallet, a saved response, a row of OAuth keys and a session each. */
    fill: async (count: number, { vault }: Keys): Promise<void> => {
      const seal = (row: string, field: string) => vault.seal(textOf({ row, field }), { row, field })
      for (let done = 0; done < count; done += CHUNK) {
        const ids = Array.from({ length: Math.min(CHUNK, count - done) }, () =>
          randomBytes(8).toString('hex'),
        )
        const agents = ids.map((id) => agentRow(id, seal, vault))
        await db.insertInto('agents').values(agents).execute()
        const wallets = await Promise.all(agents.map(({ id }) => walletRow(id, vault)))
        await db.insertInto('agent_wallets').values(wallets).execute()
        await db
          .insertInto('requests')
          .values(agents.map(({ id }) => requestRow(id, seal)))
          .execute()
        await db
          .insertInto('oauth_keys')
          .values(ids.map((id) => ({ id, keys_sealed: seal(`oauth_keys:${id}`, 'keys'), created_at: EVER })))
          .execute()
        await db
          .insertInto('users')
          .values(ids.map((id) => ({ idp_user_id: id, created_at: AT, updated_at: AT })))
          .execute()
        await db
          .insertInto('sessions')
          .values(ids.map((id) => sessionRow(id, seal)))
          .execute()
      }
    },
    /** Changes secrets of random agents as commands do, under the row's lock, until told to stop. */
    changeSecrets: ({ vault }: Keys, wrote: Map<string, string>) => {
      let stopping = false
      const changing = (async () => {
        const rows = await db.selectFrom('agents').select('id').orderBy('id').execute()
        for (let number = 0; !stopping; number++) {
          const { id } = rows[randomInt(rows.length)] ?? { id: '' }
          const place = { row: `agents:${id}`, field: number % 2 === 0 ? 'api_key' : 'webhook_secret' }
          const text = `changed ${randomBytes(6).toString('hex')}`
          await db.transaction().execute(async (tx) => {
            await tx.selectFrom('agents').select('id').where('id', '=', id).forUpdate().execute()
            const change = {
              [`${place.field}_sealed`]: vault.seal(text, place),
              ...(place.field === 'api_key' && { api_key_fingerprint: vault.fingerprint('api_key', text) }),
            }
            await tx.updateTable('agents').set(change).where('id', '=', id).execute()
            wrote.set(textOf(place), text)
          })
        }
      })()
      return async () => {
        stopping = true
        await changing
      }
    },
  }
}

type Seal = (row: string, field: string) => Buffer

const agentRow = (name: string, seal: Seal, vault: Vault) => {
  const id = `agt_${AT.getTime()}_0${name}`
  const row = `agents:${id}`
  return {
    id,
    name: `Agent ${name}`,
    name_skeleton: `agent${name}`,
    written_skeleton: `agent${name}`,
    slug: `agent-${name}`,
    description: 'Keeps its secrets to itself.',
    capabilities: [],
    ai_models: [],
    endpoint_url: 'https://93.184.216.34/in',
    api_key_fingerprint: vault.fingerprint('api_key', textOf({ row, field: 'api_key' })),
    api_key_sealed: seal(row, 'api_key'),
    api_key_hint: 'hint',
    webhook_secret_sealed: seal(row, 'webhook_secret'),
    previous_webhook_secret_sealed: seal(row, 'previous_webhook_secret'),
    webhook_secret_replaced_at: AT,
    created_at: AT,
    updated_at: AT,
  }
}

const walletRow = async (agentId: string, vault: Vault) => {
  const address = `A${createHash('sha256').update(agentId).digest('hex').slice(0, 40)}`
  const place = { row: `agent_wallets:${agentId}:solana:${address}`, field: 'secret' }
  const secret_sealed = await vault.sealSeed(seedOf(place), place)
  return { agent_id: agentId, chain: 'solana', address, secret_sealed, created_at: AT }
}

const requestRow = (agentId: string, seal: Seal) => {
  const name = { scope: `agent:${agentId}`, key: 'the-key' }
  return {
    ...name,
    operation: 'updateMyAgent',
    fingerprint: createHash('sha256').update(agentId).digest(),
    state: 'done',
    leased_until: AT,
    status: 200,
    response_sealed: seal(`requests:${name.scope}:${name.key}`, 'response'),
    created_at: new Date(),
  }
}

/** Runs the command; `ended` resolves with its exit code and output. */
export function startRotation(environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['apps/worker/src/commands/rotate-vault.ts'], {
    cwd: ROOT,
    env: { ...CHILD_ENVIRONMENT, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk
  })
  const ended = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...said,
  }))
  return { ended, kill: () => void child.kill('SIGKILL') }
}

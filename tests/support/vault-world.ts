import { spawn } from 'node:child_process'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SealContext, Vault } from '@market/core/ports/vault'
import { localVault } from '@market/platform/vault/local-vault'
import { TIMEOUT_FACTOR } from '@market/testing/postgres'
import { sql } from 'kysely'
import { CHILD_ENVIRONMENT } from './child-environment.ts'
import type { Parts } from './parts.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const AT = new Date('2026-02-03T04:05:06.789Z')
const CHUNK = 500

/** Every sealed column and the row context of its values, stated independently of the code. */
export const SEALED = {
  'agents.api_key_sealed': sql`'agents:' || id`,
  'agents.webhook_secret_sealed': sql`'agents:' || id`,
  'agent_wallets.secret_sealed': sql`'agent_wallets:' || agent_id || ':' || chain || ':' || address`,
  'requests.response_sealed': sql`'requests:' || scope || ':' || key`,
} as const

export type Column = keyof typeof SEALED

interface Value {
  readonly place: SealContext
  readonly sealed: Buffer
}

/** The initial plain text of a value: its context. */
export const textOf = ({ row, field }: SealContext): string => JSON.stringify(`${field} of ${row}`)

const newKey = (id: string) => ({ id, key: randomBytes(32) })

/** Vaults with old and new keys, their settings, and a database with many sealed values. */
export function vaultWorld({ db, environment }: Parts) {
  const pepper = Buffer.from(environment['VAULT_PEPPER'] ?? '', 'hex')
  const keys = { old: newKey('k-old'), new: newKey('k-new') }
  type Name = keyof typeof keys
  const vaultOf = (...names: readonly Name[]): Vault =>
    localVault({ keys: names.map((name) => keys[name]), pepper })
  const environmentOf = (...names: readonly Name[]) => ({
    ...environment,
    TIMEOUT_FACTOR: String(TIMEOUT_FACTOR),
    VAULT_KEYS: names.map((name) => `${keys[name].id}:${keys[name].key.toString('hex')}`).join(),
  })

  const valuesOf = async (column: Column): Promise<Value[]> => {
    const [table = '', name = ''] = column.split('.')
    // The seal context of stored responses keeps its first name, so that older ones can still be opened.
    const field = name === 'response_sealed' ? 'answer' : name.replace(/_sealed$/, '')
    const { rows } = await sql<{ row: string; sealed: Buffer }>`
      select ${SEALED[column]} as row, ${sql.ref(name)} as sealed from ${sql.table(table)}
      where ${sql.ref(name)} is not null`.execute(db)
    return rows.map(({ row, sealed }) => ({ place: { row, field }, sealed }))
  }

  return {
    vaultOf,
    environmentOf,
    valuesOf,
    /** How many values of the column are sealed with the key. */
    countUnder: async (name: Name, column: Column): Promise<number> => {
      const vault = vaultOf(name)
      return (await valuesOf(column)).filter(({ sealed }) => !vault.needsReseal(sealed)).length
    },
    /** Creates agents with both secrets, a wallet and a saved response each. */
    fill: async (count: number, vault: Vault): Promise<void> => {
      const seal = (row: string, field: string) => vault.seal(textOf({ row, field }), { row, field })
      for (let done = 0; done < count; done += CHUNK) {
        const ids = Array.from({ length: Math.min(CHUNK, count - done) }, () =>
          randomBytes(8).toString('hex'),
        )
        const agents = ids.map((id) => agentRow(id, seal))
        await db.insertInto('agents').values(agents).execute()
        await db
          .insertInto('agent_wallets')
          .values(agents.map(({ id }) => walletRow(id, seal)))
          .execute()
        await db
          .insertInto('requests')
          .values(agents.map(({ id }) => requestRow(id, seal)))
          .execute()
      }
    },
    /** Changes secrets of random agents as commands do, under the row's lock, until told to stop. */
    changeSecrets: (vault: Vault, wrote: Map<string, string>) => {
      let stopping = false
      const changing = (async () => {
        const rows = await db.selectFrom('agents').select('id').orderBy('id').execute()
        for (let number = 0; !stopping; number++) {
          const { id } = rows[randomInt(rows.length)] ?? { id: '' }
          const place = { row: `agents:${id}`, field: number % 2 === 0 ? 'api_key' : 'webhook_secret' }
          const text = `changed ${randomBytes(6).toString('hex')}`
          await db.transaction().execute(async (tx) => {
            await tx.selectFrom('agents').select('id').where('id', '=', id).forUpdate().execute()
            const change = { [`${place.field}_sealed`]: vault.seal(text, place) }
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

const agentRow = (name: string, seal: Seal) => {
  const id = `agt_${AT.getTime()}_0${name}`
  return {
    id,
    name: `Agent ${name}`,
    folded_name: `agent${name}`,
    slug: `agent-${name}`,
    description: 'Keeps its secrets to itself.',
    capabilities: [],
    ai_models: [],
    endpoint_url: 'https://93.184.216.34/in',
    api_key_fingerprint: createHash('sha256').update(id).digest(),
    api_key_sealed: seal(`agents:${id}`, 'api_key'),
    api_key_hint: 'hint',
    webhook_secret_sealed: seal(`agents:${id}`, 'webhook_secret'),
    created_at: AT,
    updated_at: AT,
  }
}

const walletRow = (agentId: string, seal: Seal) => {
  const address = `A${createHash('sha256').update(agentId).digest('hex').slice(0, 40)}`
  const secret_sealed = seal(`agent_wallets:${agentId}:solana:${address}`, 'secret')
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
    response_sealed: seal(`requests:${name.scope}:${name.key}`, 'answer'),
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

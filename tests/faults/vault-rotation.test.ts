import { randomUUID } from 'node:crypto'
import { verifyAudit } from '@market/core/audit'
import type { Vault } from '@market/core/ports/vault'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { startApi } from '../support/api-process.ts'
import { client, someAddress } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { until } from '../support/until.ts'
import { type Column, SEALED, startRotation, textOf, vaultWorld } from '../support/vault-world.ts'

const COLUMNS = Object.keys(SEALED) as Column[]
/** Values per column. */
const COUNT = Number(process.env['VAULT_VALUES'] ?? 300)
const ALL_CLEAR = 'No value uses another key. You can remove the other keys.'

let parts: Parts
let world: ReturnType<typeof vaultWorld>
beforeEach(async () => {
  parts = await startParts()
  world = vaultWorld(parts)
})
afterEach(() => parts.stop())

const rotate = (environment = world.environmentOf('new', 'old')) => {
  const rotation = startRotation(environment)
  onTestFinished(rotation.kill)
  return rotation
}

const api = async (environment: Readonly<Record<string, string>>) => {
  const started = await startApi(environment)
  onTestFinished(() => started.stop())
  return started
}

/** Every value that does not open to what it says where it belongs, or to what was written there last. */
async function wrongValues(vault: Vault, wrote: ReadonlyMap<string, string> = new Map()): Promise<string[]> {
  const wrong: string[] = []
  for (const column of COLUMNS) {
    for (const { place, sealed } of await world.valuesOf(column)) {
      const expected = wrote.get(textOf(place)) ?? textOf(place)
      const opened = await vault.open(sealed, place).catch((error: Error) => error.message)
      if (opened !== expected) wrong.push(`${column} ${place.row}: ${opened}`)
    }
  }
  return wrong
}

const countsUnderOld = () => Promise.all(COLUMNS.map((column) => world.countUnder('old', column)))

const auditActs = async () => {
  const rows = await parts.db
    .selectFrom('audit_log')
    .select(['act', 'actor', 'subject'])
    .orderBy('seq')
    .execute()
  return rows.map(({ act, actor, subject }) => `${act} ${actor} ${subject}`)
}

test('rotation: covers every sealed column of the database', async () => {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public' and column_name ~ 'sealed'`.execute(parts.db)
  expect(rows.map(({ name }) => name).toSorted()).toEqual(COLUMNS.toSorted())
  const { out, code } = await rotate().ended
  for (const column of COLUMNS)
    expect(out).toContain(`${column}: 0 values, 0 resealed, 0 under another key\n`)
  expect(code).toBe(0)
})

test('rotation: killed and run again while secrets change, it loses no value and the old key is no longer needed', async () => {
  await world.fill(COUNT, world.vaultOf('old'))
  const untouched = () =>
    sql`select md5(string_agg((to_jsonb(agents) - 'api_key_sealed' - 'webhook_secret_sealed')::text, '' order by id))
        from agents`.execute(parts.db)
  const before = (await untouched()).rows
  const wrote = new Map<string, string>()

  // At first some processes still seal under the old key.
  const load = (vault: Vault) => {
    const stop = world.changeSecrets(vault, wrote)
    onTestFinished(stop)
    return stop
  }
  const stopFirst = [load(world.vaultOf('old', 'new')), load(world.vaultOf('new', 'old'))]
  const first = rotate()
  const resealed = () => world.countUnder('new', 'agents.webhook_secret_sealed')
  await until('it is in the middle of the second column', async () => (await resealed()) > 200, {
    withinMs: 120_000,
  })
  first.kill()
  expect(await first.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  await Promise.all(stopFirst.map((stop) => stop()))
  const [, webhooks, wallets, answers] = await countsUnderOld()
  expect(webhooks).toBeGreaterThan(0)
  expect([wallets, answers]).toEqual([COUNT, COUNT])
  expect(await wrongValues(world.vaultOf('new', 'old'), wrote)).toEqual([])

  const stopSecond = load(world.vaultOf('new', 'old'))
  const second = await rotate().ended
  await stopSecond()
  expect(second).toMatchObject({ code: 0, err: '' })
  expect(second.out).toContain(
    `agent_wallets.secret_sealed: ${COUNT} values, ${COUNT} resealed, 0 under another key`,
  )
  expect(second.out).toContain(ALL_CLEAR)
  expect(wrote.size).toBeGreaterThan(100)

  expect(await countsUnderOld()).toEqual([0, 0, 0, 0])
  expect(await wrongValues(world.vaultOf('new'), wrote)).toEqual([])
  expect((await untouched()).rows).toEqual(before)

  const third = await rotate(world.environmentOf('new')).ended
  expect(third.code).toBe(0)
  expect(third.out.match(/ 0 resealed/g)).toHaveLength(COLUMNS.length)

  const began = 'vault.rotation_began admin_key:vault:rotate vault:k-new'
  const ended = 'vault.rotation_ended admin_key:vault:rotate vault:k-new'
  expect(await auditActs()).toEqual([began, began, ended, began, ended])
  expect(await verifyAudit({ db: parts.db, vault: world.vaultOf('new') })).toBeUndefined()
})

describe('an api started before the rotation', () => {
  const register = async (url: string) => {
    const body = { name: someName(), description: DESCRIPTION, endpoint_url: 'https://93.184.216.34/in' }
    const ask = { key: randomUUID(), from: someAddress() }
    const { status, body: answer } = await client(url).post('/api/agents/register', body, ask)
    expect(status).toBe(201)
    const { api_key, agent_id } = answer.data
    const me = (at: string) => client(at).get('/api/agents/me', { bearer: api_key })
    const secret: string = (await me(url)).body.data.webhook_secret
    return {
      agent_id,
      secret,
      me,
      again: (at: string) => client(at).post('/api/agents/register', body, ask),
      answer,
    }
  }

  test('serves requests while values are resealed, and the next api without the old key opens all of them', async () => {
    const both = await api(world.environmentOf('old', 'new'))
    const registered = await Promise.all(Array.from({ length: 20 }, () => register(both.url)))
    const asking = (async () => {
      const statuses = new Set<number>()
      for (let round = 0; round < 10; round++)
        for (const { me } of registered) statuses.add((await me(both.url)).status)
      return statuses
    })()
    expect((await rotate().ended).code).toBe(0)
    expect(await asking).toEqual(new Set([200]))

    const newOnly = await api(world.environmentOf('new'))
    for (const { me, again, answer, secret } of registered) {
      expect((await me(newOnly.url)).body.data.webhook_secret).toBe(secret)
      const replay = await again(newOnly.url)
      expect(replay.headers.get('idempotent-replayed')).toBe('true')
      expect(replay.body.data).toEqual(answer.data)
    }
  })

  test('when the old key is removed without a rotation, no value opens and the log names the missing key', async () => {
    const old = await api(world.environmentOf('old'))
    const { me } = await register(old.url)
    const newOnly = await api(world.environmentOf('new'))
    expect((await me(newOnly.url)).status).toBe(500)
    await until('the log says why', () => newOnly.output().includes('the vault has no key'))
    expect(newOnly.output()).toContain('the vault has no key \\"k-old\\". Configure it again')

    const { code, out } = await rotate(world.environmentOf('new')).ended
    expect(code).toBe(1)
    expect(out).toContain('4 values still use another key. Keep it')
    expect(out).toContain('1 of them cannot be decrypted, for example:\n  agents:agt_')
    // Given back, everything is as it was.
    expect((await me((await api(world.environmentOf('new', 'old'))).url)).status).toBe(200)
    expect((await rotate().ended).code).toBe(0)
  })
})

describe('a locked row', () => {
  const hold = async () => {
    await world.fill(300, world.vaultOf('old'))
    const { id } = await parts.db
      .selectFrom('agents')
      .select('id')
      .orderBy('id')
      .offset(150)
      .executeTakeFirstOrThrow()
    const letGo = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    const holding = parts.db.transaction().execute(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
      await tx.selectFrom('agents').select('id').where('id', '=', id).forUpdate().execute()
      held.resolve()
      await letGo.promise
    })
    await held.promise
    return async () => {
      letGo.resolve()
      await holding
    }
  }

  test('is skipped and resealed in a later pass', async () => {
    const letGo = await hold()
    const rotation = rotate()
    await until(
      'all others are done',
      async () => (await world.countUnder('old', 'agents.api_key_sealed')) === 1,
      {
        withinMs: 120_000,
      },
    )
    await letGo()
    expect(await rotation.ended).toMatchObject({ code: 0 })
    expect(await wrongValues(world.vaultOf('new'))).toEqual([])
  })

  test('that stays locked is reported, and the old key is still needed', async () => {
    const letGo = await hold()
    const { code, out } = await rotate().ended
    await letGo()
    expect(code).toBe(1)
    expect(out).toContain('agents.api_key_sealed: 300 values, 299 resealed, 1 under another key')
    expect(out).toContain('2 values still use another key. Keep it')
    expect((await rotate().ended).out).toContain(ALL_CLEAR)
  })
})

test('rotation: a damaged value is reported, and all other values are resealed', async () => {
  await world.fill(10, world.vaultOf('old'))
  const [one] = await world.valuesOf('agent_wallets.secret_sealed')
  const [, agentId = ''] = one?.place.row.split(':') ?? []
  const damaged = sql<Buffer>`set_byte(secret_sealed, 100, get_byte(secret_sealed, 100) # 1)`
  await parts.db
    .updateTable('agent_wallets')
    .set({ secret_sealed: damaged })
    .where('agent_id', '=', agentId)
    .execute()
  const { code, out } = await rotate().ended
  expect(code).toBe(1)
  expect(out).toContain('agent_wallets.secret_sealed: 10 values, 9 resealed, 1 under another key')
  expect(out).toContain(`agent_wallets:${agentId}:solana:`)
  expect(out).toContain('requests.response_sealed: 10 values, 10 resealed, 0 under another key')
})

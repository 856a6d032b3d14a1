import { randomUUID } from 'node:crypto'
import { verifyAudit } from '@market/core/audit'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { client, someAddress } from '../support/client.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { type Parts, startParts } from '../support/parts.ts'
import { startApi } from '../support/processes.ts'
import { until } from '../support/until.ts'
import { type Column, type Keys, SEALED, startRotation, vaultWorld } from '../support/vault-world.ts'

const COLUMNS = Object.keys(SEALED) as Column[]
/** The fingerprints of API keys are not sealed, and depend on a key too. */
const REPORTED = [...COLUMNS, 'agents.api_key_fingerprint']
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

const rotate = (environment: Readonly<Record<string, string>> = world.rotationOf('new', 'old')) => {
  const rotation = startRotation(environment)
  onTestFinished(rotation.kill)
  return rotation
}

const api = async (environment: Readonly<Record<string, string>>) => {
  const started = await startApi(environment)
  onTestFinished(() => started.stop())
  return started
}

const countsLeft = () => Promise.all(COLUMNS.map((column) => world.countLeft(column)))

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
  for (const column of REPORTED)
    expect(out).toContain(`${column}: 0 values, 0 resealed, 0 under another key\n`)
  expect(code).toBe(0)
})

/** Locks these wallets until the returned function is called. */
async function lockWallets(count: number) {
  const [held, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const holding = parts.db.transaction().execute(async (tx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx)
    await tx
      .selectFrom('agent_wallets')
      .select('address')
      .orderBy('agent_id')
      .limit(count)
      .forUpdate()
      .execute()
    held.resolve()
    await letGo.promise
  })
  await held.promise
  return async () => {
    letGo.resolve()
    await holding
  }
}

test('rotation: killed twice and run again while secrets change, it loses no value and the old keys are no longer needed', async () => {
  await world.fill(COUNT, world.keysOf('old'))
  const untouched = () =>
    sql`select md5(string_agg((to_jsonb(agents) - 'api_key_sealed' - 'webhook_secret_sealed'
          - 'previous_webhook_secret_sealed' - 'api_key_fingerprint')::text,
          '' order by id))
        from agents`.execute(parts.db)
  const before = (await untouched()).rows
  const wrote = new Map<string, string>()

  // At first some processes still seal under the old key.
  const load = (keys: Keys) => {
    const stop = world.changeSecrets(keys, wrote)
    onTestFinished(stop)
    return stop
  }
  const stopFirst = [load(world.keysOf('old', 'new')), load(world.keysOf('new', 'old'))]
  const first = rotate()
  const resealed = async () => COUNT - (await world.countLeft('agents.webhook_secret_sealed'))
  await until('it is in the middle of the second column', async () => (await resealed()) > 200, {
    withinMs: 120_000,
  })
  first.kill()
  expect(await first.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  await Promise.all(stopFirst.map((stop) => stop()))
  const [, webhooks, ...others] = await countsLeft()
  expect(webhooks).toBeGreaterThan(0)
  expect(others).toEqual([COUNT, COUNT, COUNT, COUNT, COUNT, COUNT])
  expect(await world.wrongValues(world.keysOf('new', 'old'), wrote)).toEqual([])

  // Killed again when half of the seeds are sealed to the new public key, the others to the old one.
  const half = COUNT / 2
  const letGo = await lockWallets(half)
  onTestFinished(letGo)
  const second = rotate()
  await until(
    'half of the seeds are resealed',
    async () => (await world.countLeft('agent_wallets.secret_sealed')) === half,
    { withinMs: 120_000 },
  )
  second.kill()
  expect(await second.ended).toMatchObject({ code: null, signal: 'SIGKILL' })
  await letGo()
  expect((await countsLeft()).slice(2)).toEqual([0, half, COUNT, COUNT, COUNT, COUNT])
  expect(await world.wrongValues(world.keysOf('new', 'old'), wrote)).toEqual([])

  const stopThird = load(world.keysOf('new', 'old'))
  const third = await rotate().ended
  await stopThird()
  expect(third).toMatchObject({ code: 0, err: '' })
  expect(third.out).toContain(
    `agent_wallets.secret_sealed: ${COUNT} values, ${half} resealed, 0 under another key`,
  )
  expect(third.out).toContain(ALL_CLEAR)
  expect(wrote.size).toBeGreaterThan(100)

  expect(await countsLeft()).toEqual(COLUMNS.map(() => 0))
  expect(await world.wrongValues(world.keysOf('new'), wrote)).toEqual([])
  expect((await untouched()).rows).toEqual(before)

  const fourth = await rotate(world.rotationOf('new')).ended
  expect(fourth.code).toBe(0)
  expect(fourth.out.match(/ 0 resealed/g)).toHaveLength(REPORTED.length)

  const began = 'vault.rotation_began admin_key:vault:rotate vault:k-new'
  const ended = 'vault.rotation_ended admin_key:vault:rotate vault:k-new'
  expect(await auditActs()).toEqual([began, began, began, ended, began, ended])
  expect(await verifyAudit({ db: parts.db, vault: world.keysOf('new').vault })).toBeUndefined()
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

  test('serves requests while values are resealed, and the next api without any old key accepts its API keys (asvs V11.1)', async () => {
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
    expect(await countsLeft()).toEqual(COLUMNS.map(() => 0))
    const newSeeds = world.keysOf('new').seeds
    for (const { place, sealed } of await world.valuesOf('agent_wallets.secret_sealed'))
      expect(await newSeeds.open(sealed, place)).toHaveLength(32)
  })

  test('when the old key is removed without a rotation, no value opens and the log names the missing key', async () => {
    const old = await api(world.environmentOf('old'))
    const { me } = await register(old.url)
    const { VAULT_KEYS } = world.environmentOf('new')
    const newOnly = await api({ ...world.environmentOf('new', 'old'), VAULT_KEYS })
    expect((await me(newOnly.url)).status).toBe(500)
    await until('the log says why', () => newOnly.output().includes('the vault has no key'))
    expect(newOnly.output()).toContain('the vault has no key \\"k-old\\". Configure it again')

    const { code, out } = await rotate({ ...world.rotationOf('new', 'old'), VAULT_KEYS }).ended
    expect(code).toBe(1)
    expect(out).toContain('4 values still use another key. Keep it')
    expect(out).toContain('1 of them cannot be decrypted, for example:\n  agents:agt_')
    // Given back, everything is as it was.
    expect((await me((await api(world.environmentOf('new', 'old'))).url)).status).toBe(200)
    expect((await rotate().ended).code).toBe(0)
  })
})

describe('a locked row', () => {
  const fillAndLock = async () => {
    await world.fill(COUNT, world.keysOf('old'))
    return lockWallets(1)
  }

  test('is skipped and resealed in a later pass', async () => {
    const letGo = await fillAndLock()
    const rotation = rotate()
    const left = () => world.countLeft('agent_wallets.secret_sealed')
    await until('all others are done', async () => (await left()) === 1, { withinMs: 120_000 })
    await letGo()
    expect(await rotation.ended).toMatchObject({ code: 0 })
    expect(await world.wrongValues(world.keysOf('new'))).toEqual([])
  })

  test('that stays locked is reported, and the old key is still needed', async () => {
    const letGo = await fillAndLock()
    const { code, out } = await rotate().ended
    await letGo()
    expect(code).toBe(1)
    expect(out).toContain(
      `agent_wallets.secret_sealed: ${COUNT} values, ${COUNT - 1} resealed, 1 under another key`,
    )
    expect(out).toContain('1 values still use another key. Keep it')
    expect((await rotate().ended).out).toContain(ALL_CLEAR)
  })
})

test('rotation: a damaged value is reported, and all other values are resealed', async () => {
  await world.fill(10, world.keysOf('old'))
  const seeds = await world.valuesOf('agent_wallets.secret_sealed')
  const [, agentId = ''] = seeds.find(({ sealed }) => sealed[0] === 2)?.place.row.split(':') ?? []
  const damaged = sql<Buffer>`set_byte(secret_sealed, 60, get_byte(secret_sealed, 60) # 1)`
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

import { DAY, HOUR } from '@market/kernel/clock'
import { startDnsServer } from '@market/testing/dns-server'
import { makeAgent, makeEvmWallet, makeProfile, registrationOf } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { findAgentByKey, getAgent } from './get-agent.ts'
import { suffixedName } from './naming/free-name.ts'
import { checkRegistration, registerAgent } from './register-agent.ts'
import { updateAgent } from './update-agent.ts'

const DUPLICATE = { kind: 'conflict', extra: { code: 'duplicate_agent' } }
const TAKEN = { kind: 'conflict', extra: { code: 'name_taken' } }
const ENDPOINT = 'https://93.184.216.34/hook'

describe('registerAgent', () => {
  let ctx: MarketContext
  let database: Awaited<ReturnType<typeof testDatabase>>
  beforeAll(async () => {
    database = await testDatabase()
  })
  afterAll(() => database.stop())
  beforeEach(() => {
    ctx = marketContext({ db: database.db })
  })

  test('returns the API key and stores it only sealed', async () => {
    const { agent, apiKey } = await makeAgent(ctx)
    expect((await findAgentByKey(ctx, apiKey)).id).toBe(agent.id)
    expect(agent.apiKeyHint).toBe(apiKey.slice(-4))
    const row = await ctx.db
      .selectFrom('agents')
      .selectAll()
      .where('id', '=', agent.id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(apiKey)
    expect(row.api_key_sealed.includes(apiKey)).toBe(false)
  })

  test('findAgentByKey: rejects unknown and malformed keys with the same error', async () => {
    const { apiKey } = await makeAgent(ctx)
    const other = marketContext({ db: database.db })
    const wrong = { kind: 'unauthenticated', extra: { code: 'bad_api_key' } }
    await expect(findAgentByKey(other, apiKey)).rejects.toMatchObject(wrong)
    await expect(findAgentByKey(ctx, `${apiKey}x`)).rejects.toMatchObject(wrong)
  })

  test('an agent without an owner is not marketable; both are found by id and slug', async () => {
    const hidden = await makeAgent(ctx)
    expect(hidden.agent).toMatchObject({
      marketable: false,
      verified: 0,
      ownerWallet: null,
      ownerUserId: null,
    })
    for (const idOrSlug of [hidden.agent.id, hidden.agent.slug])
      expect((await getAgent(ctx, idOrSlug)).id).toBe(hidden.agent.id)

    const wallet = makeEvmWallet()
    const { agent } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    expect(agent).toMatchObject({ marketable: true, verified: 1, ownerWallet: wallet.key })
    expect(await getAgent(ctx, agent.id)).toEqual(agent)
    expect(await getAgent(ctx, agent.slug.toUpperCase())).toEqual(agent)
  })

  test('sets the linked handle of the user', async () => {
    const profile = makeProfile({ twitterUsername: 'ada_draws' })
    const { agent } = await makeAgent(ctx, { owner: { kind: 'user', profile } })
    expect(agent).toMatchObject({
      ownerUserId: profile.userId,
      twitterUsername: 'ada_draws',
      marketable: true,
    })
  })

  test('returns a webhook secret only when an endpoint is given', async () => {
    expect((await makeAgent(ctx)).webhookSecret).toBeNull()
    expect((await makeAgent(ctx, { endpointUrl: ENDPOINT })).webhookSecret).toMatch(/^whsec_/)
  })

  test('rejects an endpoint that is or resolves to a private address', async () => {
    const dns = await startDnsServer({ 'hook.example': ['93.184.216.34'], 'inside.example': ['10.0.0.1'] })
    onTestFinished(() => dns.stop())
    const withDns = marketContext({ db: database.db, resolver: dns.resolver })
    await makeAgent(withDns, { endpointUrl: 'https://hook.example/in' })
    for (const endpointUrl of ['https://127.0.0.1/', 'https://inside.example/', 'https://unknown.example/']) {
      await expect(makeAgent(withDns, { endpointUrl })).rejects.toMatchObject({ kind: 'invalid' })
    }
  })

  test('removes duplicate capabilities and models', async () => {
    const { agent } = await makeAgent(ctx, { capabilities: ['seo', 'seo', 'ugc'], aiModels: ['m', 'm'] })
    expect(agent).toMatchObject({ capabilities: ['seo', 'ugc'], aiModels: ['m'] })
  })

  test('rejects a name with two alphabets', async () => {
    await expect(makeAgent(ctx, { name: 'Аda the painter' })).rejects.toMatchObject({ kind: 'invalid' })
  })

  describe('a name that another agent has', () => {
    test('returns duplicate_agent within an hour, then name_taken', async () => {
      const { agent, apiKey } = await makeAgent(ctx, { name: 'Hourly Painter' })
      ctx.clock.advance(HOUR - 1)
      const again = registrationOf({ name: 'HOURLY-PAINTER' })
      const apiError: unknown = await registerAgent(ctx, again).catch((error: unknown) => error)
      expect(apiError).toMatchObject({
        ...DUPLICATE,
        message: 'duplicate_agent',
        extra: {
          fields: {
            existing_agent: {
              agent_id: agent.id,
              name: 'Hourly Painter',
              slug: 'hourly-painter',
              api_key_hint: `market_…${apiKey.slice(-4)}`,
            },
          },
        },
      })
      ctx.clock.advance(1)
      await expect(registerAgent(ctx, again)).rejects.toMatchObject(TAKEN)
    })

    test.each(['wallet', 'user'] as const)(
      'returns duplicate_agent to the same owner (%s) within a day',
      async (kind) => {
        const owner = kind === 'wallet' ? { kind, wallet: makeEvmWallet() } : { kind, profile: makeProfile() }
        const name = `Daily ${kind}`
        await makeAgent(ctx, { name, owner })
        ctx.clock.advance(DAY - 1)
        await expect(makeAgent(ctx, { name, owner })).rejects.toMatchObject(DUPLICATE)
        await expect(makeAgent(ctx, { name })).rejects.toMatchObject(TAKEN)
        const otherOwner = { kind: 'wallet', wallet: makeEvmWallet() } as const
        await expect(makeAgent(ctx, { name, owner: otherOwner })).rejects.toMatchObject(TAKEN)
        ctx.clock.advance(1)
        await expect(makeAgent(ctx, { name, owner })).rejects.toMatchObject(TAKEN)
      },
    )

    test('one of concurrent registrations succeeds; the others get duplicate_agent', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, () => makeAgent(ctx, { name: 'Race Winner' })),
      )
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(DUPLICATE)
    })

    test('a rejected registration stores nothing', async () => {
      await makeAgent(ctx, { name: 'Only Once' })
      const profile = makeProfile()
      const before = await ctx.db.selectFrom('agent_wallets').select('address').execute()
      await expect(makeAgent(ctx, { name: 'Only 0nce', owner: { kind: 'user', profile } })).rejects.toThrow()
      expect(await ctx.db.selectFrom('agent_wallets').select('address').execute()).toHaveLength(before.length)
      const user = ctx.db.selectFrom('users').select('idp_user_id').where('idp_user_id', '=', profile.userId)
      expect(await user.execute()).toEqual([])
    })
  })

  describe('the name of an agent without an owner', () => {
    const audited = (id: string) =>
      ctx.db.selectFrom('audit_log').select(['act', 'actor', 'details']).where('subject', '=', id).execute()

    test('is free 25 hours after its last call: the agent gets a suffix, and the audit log says so', async () => {
      const { agent, apiKey } = await makeAgent(ctx, { name: 'Passing By' })
      ctx.clock.advance(DAY + HOUR - 1)
      await expect(makeAgent(ctx, { name: 'passing-by' })).rejects.toMatchObject(TAKEN)
      ctx.clock.advance(1)
      const taker = await makeAgent(ctx, { name: 'passing-by' })
      expect(taker.agent.name).toBe('passing-by')
      const name = `Passing By ${agent.id.slice(-8)}`
      expect(await findAgentByKey(ctx, apiKey)).toMatchObject({ id: agent.id, name, slug: agent.slug })
      const details = { from: 'Passing By', to: name, taken_by: taker.agent.id }
      expect(await audited(agent.id)).toEqual([
        { act: 'agents.name_lost', actor: `agent:${taker.agent.id}`, details },
      ])
      await expect(makeAgent(ctx, { name })).rejects.toMatchObject(TAKEN)
    })

    test('is kept by a call within 24 hours, which is written at most once an hour', async () => {
      const { agent, apiKey } = await makeAgent(ctx, { name: 'Still Here' })
      const seen = async () => (await findAgentByKey(ctx, apiKey)).lastSeenAt
      ctx.clock.advance(HOUR - 1)
      await seen()
      expect(await seen()).toEqual(agent.createdAt)
      ctx.clock.advance(1)
      await seen()
      expect(await seen()).toEqual(ctx.clock.now())
      for (let day = 0; day < 3; day++) {
        ctx.clock.advance(DAY)
        await expect(makeAgent(ctx, { name: 'Still Here' })).rejects.toMatchObject(TAKEN)
        await seen()
      }
    })

    test('is kept when the agent has an owner, whose calls are not written', async () => {
      const owner = { kind: 'wallet', wallet: makeEvmWallet() } as const
      const { agent, apiKey } = await makeAgent(ctx, { name: 'Owned Here', owner })
      ctx.clock.advance(30 * DAY)
      await findAgentByKey(ctx, apiKey)
      expect((await findAgentByKey(ctx, apiKey)).lastSeenAt).toEqual(agent.lastSeenAt)
      await expect(makeAgent(ctx, { name: 'Owned Here' })).rejects.toMatchObject(TAKEN)
    })

    test('goes to one of concurrent registrations', async () => {
      await makeAgent(ctx, { name: 'Wanted Much' })
      ctx.clock.advance(2 * DAY)
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, () => makeAgent(ctx, { name: 'Wanted Much' })),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(DUPLICATE)
    })

    test('can be taken by renaming an agent, and a paid registration is offered for it', async () => {
      await makeAgent(ctx, { name: 'Free Again' })
      const { agent } = await makeAgent(ctx)
      await expect(checkRegistration(ctx, registrationOf({ name: 'Free Again' }))).rejects.toThrow()
      ctx.clock.advance(2 * DAY)
      await checkRegistration(ctx, registrationOf({ name: 'Free Again' }))
      const renamed = await updateAgent(ctx, agent.id, { name: 'Free Again' }, { editor: 'itself' })
      expect(renamed.agent.name).toBe('Free Again')
    })

    test('suffixedName: shortens the name to the 40 characters of the contract', () => {
      const id = 'agt_1_00000000012345678'
      expect(suffixedName({ id, name: 'x'.repeat(40) })).toBe(`${'x'.repeat(31)} 12345678`)
      expect(suffixedName({ id, name: `${'x'.repeat(30)} yyy` })).toBe(`${'x'.repeat(30)} 12345678`)
    })
  })

  test('appends a number to a slug that a renamed agent still has', async () => {
    const slugs: string[] = []
    for (let n = 0; n < 3; n++) {
      const { agent } = await makeAgent(ctx, { name: 'Moving On' })
      slugs.push(agent.slug)
      await updateAgent(ctx, agent.id, { name: `Moved ${'abc'[n]} away` }, { editor: 'itself' })
    }
    expect(slugs).toEqual(['moving-on', 'moving-on-2', 'moving-on-3'])
  })
})

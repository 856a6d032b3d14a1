import { rotateKeys, testKeys } from '@market/testing/keys'
import { makeAgent, makeEvmWallet, makeProfile } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eraseAccount } from '../accounts/index.ts'
import { findAgentByKey } from './get-agent.ts'
import { linkAgent } from './link-agent.ts'
import { recoverAgents } from './recover-agents.ts'
import { rotateKey } from './rotate-key.ts'
import { signIn } from './sign-in.ts'
import { updateAgent } from './update-agent.ts'

const keys = testKeys()
let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db, keys })
  stop = database.stop
})
afterAll(() => stop())

const OWNED = { kind: 'conflict', extra: { code: 'owned_by_another' } }

describe('linkAgent', () => {
  test('makes the user the owner of an agent without an owner, once', async () => {
    const { agent, apiKey } = await makeAgent(ctx)
    const profile = makeProfile({ twitterUsername: 'ada' })
    const linked = await linkAgent(ctx, profile, apiKey)
    expect(linked.agent).toMatchObject({
      id: agent.id,
      ownerUserId: profile.userId,
      twitterUsername: 'ada',
      marketable: true,
    })
    expect(await linkAgent(ctx, profile, apiKey)).toEqual(linked)
    const acts = ctx.db.selectFrom('audit_log').select('act').where('subject', '=', agent.id)
    expect(await acts.execute()).toEqual([{ act: 'agents.link' }])
  })

  test('finds the agent by a former hash key of API keys', async () => {
    const { agent, apiKey } = await makeAgent(ctx)
    const { vault } = rotateKeys(keys, 'API_KEY_HASH_KEYS').both
    const linked = await linkAgent({ ...ctx, vault }, makeProfile(), apiKey)
    expect(linked.agent.id).toBe(agent.id)
  })

  test('returns 409 owned_by_another for an agent of another user or wallet', async () => {
    const ofUser = await makeAgent(ctx, { owner: { kind: 'user', profile: makeProfile() } })
    const ofWallet = await makeAgent(ctx, { owner: { kind: 'wallet', wallet: makeEvmWallet() } })
    for (const { agent, apiKey } of [ofUser, ofWallet]) {
      await expect(linkAgent(ctx, makeProfile(), apiKey)).rejects.toMatchObject(OWNED)
      expect(await findAgentByKey(ctx, apiKey)).toEqual(agent)
    }
  })

  test('links an agent whose owner wallet is linked to the user, and keeps the wallet', async () => {
    const wallet = makeEvmWallet()
    const { apiKey } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const profile = makeProfile({ wallets: [wallet.address] })
    const linked = await linkAgent(ctx, profile, apiKey)
    expect(linked.agent).toMatchObject({ ownerUserId: profile.userId, ownerWallet: wallet.key })
  })

  test('returns 409 when the owner wallet moved to another user but the agent has an owning user', async () => {
    const wallet = makeEvmWallet()
    const { apiKey } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const first = makeProfile({ wallets: [wallet.address] })
    await linkAgent(ctx, first, apiKey)
    await expect(linkAgent(ctx, makeProfile({ wallets: [wallet.address] }), apiKey)).rejects.toMatchObject(
      OWNED,
    )
    expect((await findAgentByKey(ctx, apiKey)).ownerUserId).toBe(first.userId)
  })

  test('of two concurrent users one becomes the owner', async () => {
    const { apiKey } = await makeAgent(ctx)
    const both = await Promise.allSettled([1, 2].map(() => linkAgent(ctx, makeProfile(), apiKey)))
    expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('returns 404 for an unknown key', async () => {
    await expect(linkAgent(ctx, makeProfile(), 'market_nonsense')).rejects.toMatchObject({
      kind: 'not_found',
    })
  })
})

describe('recoverAgents', () => {
  const idsOf = (recovered: Awaited<ReturnType<typeof recoverAgents>>) =>
    recovered.map(({ agent }) => agent.id).sort()

  test('returns the same keys to the owner wallet or user, and records it', async () => {
    const wallet = makeEvmWallet()
    const profile = makeProfile({ wallets: [wallet.address] })
    const ofWallet = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const ofUser = await makeAgent(ctx, { owner: { kind: 'user', profile } })

    const byWallet = await recoverAgents(ctx, { kind: 'wallet', wallet }, undefined)
    expect(byWallet).toEqual([{ agent: ofWallet.agent, apiKey: ofWallet.apiKey }])
    const byUser = await recoverAgents(ctx, { kind: 'user', profile }, undefined)
    expect(idsOf(byUser)).toEqual([ofWallet.agent.id, ofUser.agent.id].sort())
    expect(byUser.map(({ apiKey }) => apiKey).sort()).toEqual([ofWallet.apiKey, ofUser.apiKey].sort())
    const acts = ctx.db
      .selectFrom('audit_log')
      .select('act')
      .where('subject', 'like', `%${ofWallet.agent.id}%`)
    expect(await acts.execute()).toEqual([{ act: 'agents.recover' }, { act: 'agents.recover' }])
  })

  test('returns 404 to a user whose wallet was unlinked', async () => {
    const wallet = makeEvmWallet()
    const profile = makeProfile({ wallets: [wallet.address] })
    await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    expect(await recoverAgents(ctx, { kind: 'user', profile }, undefined)).toHaveLength(1)
    const unlinked = { ...profile, wallets: [] }
    await expect(recoverAgents(ctx, { kind: 'user', profile: unlinked }, undefined)).rejects.toMatchObject({
      kind: 'not_found',
      extra: { code: 'agent_not_found' },
    })
  })

  test('returns 404 to a wallet that owns no agent', async () => {
    await makeAgent(ctx)
    const recovery = recoverAgents(ctx, { kind: 'wallet', wallet: makeEvmWallet() }, undefined)
    await expect(recovery).rejects.toMatchObject({ kind: 'not_found' })
  })

  test('returns the agent with a look-alike name, even behind a hundred newer agents', async () => {
    const wallet = makeEvmWallet()
    const owner = { kind: 'wallet', wallet } as const
    const { agent } = await makeAgent(ctx, { name: 'The Oldest One', owner })
    for (let n = 0; n < 101; n++) {
      ctx.clock.advance(1)
      await makeAgent(ctx, { owner })
    }
    expect(idsOf(await recoverAgents(ctx, owner, 'the-oldest 0ne'))).toEqual([agent.id])
    await expect(recoverAgents(ctx, owner, 'Not Mine')).rejects.toMatchObject({ kind: 'not_found' })
    expect(await recoverAgents(ctx, owner, undefined)).toHaveLength(100)
  })
})

describe('notifications of an agent with a user and an owner wallet', () => {
  const recipientsOf = async (agentId: string, kind: string) => {
    const rows = await ctx.db
      .selectFrom('notifications')
      .select('recipient')
      .where('kind', '=', kind)
      .where('about', '=', agentId)
      .orderBy('recipient')
      .execute()
    return rows.map(({ recipient }) => recipient)
  }

  test('both get those of a recovered key, a new key and a payout change, also after the account was deleted', async () => {
    const wallet = makeEvmWallet()
    const profile = makeProfile({ wallets: [wallet.address] })
    const { agent, apiKey } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    await linkAgent(ctx, profile, apiKey)
    const both = [`user:${profile.userId}`, `wallet:${wallet.key}`]
    const byUser = { userId: profile.userId, wallets: [] }
    await recoverAgents(ctx, { kind: 'user', profile }, undefined)
    expect(await recipientsOf(agent.id, 'agent.key_recovered')).toEqual(both)
    const change = { payoutAddressBase: makeEvmWallet().address }
    await updateAgent(ctx, agent.id, change, { editor: byUser })
    expect(await recipientsOf(agent.id, 'agent.payout_changed')).toEqual(both)
    await ctx.transact((tx) => eraseAccount(tx, profile.userId, ctx.clock.now()))
    await rotateKey(ctx, agent.id, { wallets: [wallet] })
    expect(await recipientsOf(agent.id, 'agent.key_rotated')).toEqual(both)
  })
})

/** Orders are counted by the caller. */
const noOrders = async () => 0

describe('signIn', () => {
  test('counts the agents of a newly linked wallet once and sets the user’s handle', async () => {
    const wallet = makeEvmWallet()
    const { apiKey } = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const profile = makeProfile({ wallets: [wallet.address], twitterUsername: 'ada' })
    expect(await signIn(ctx, profile, noOrders)).toMatchObject({ isNew: true, backfilled: 2 })
    expect(await signIn(ctx, profile, noOrders)).toMatchObject({ isNew: false, backfilled: 0 })
    expect((await findAgentByKey(ctx, apiKey)).twitterUsername).toBe('ada')
    await signIn(ctx, { ...profile, twitterUsername: null }, noOrders)
    expect((await findAgentByKey(ctx, apiKey)).twitterUsername).toBeNull()
  })
})

import { MINUTE } from '@market/kernel/clock'
import {
  makeAgent,
  makeEvmWallet,
  makeListedAgent,
  makeProfile,
  makeSolanaWallet,
} from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateAgent } from './update-agent.ts'

const ENDPOINT = 'https://93.184.216.34/hook'
const itself = { editor: 'itself' } as const

describe('changing an agent', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
  })
  afterAll(() => stop())

  test('only what is given changes', async () => {
    const { agent } = await makeAgent(ctx, { capabilities: ['seo'], avatarUrl: 'https://a.example/1' })
    ctx.clock.advance(MINUTE)
    const { agent: changed } = await updateAgent(ctx, agent.id, { description: 'Writes instead.' }, itself)
    expect(changed).toEqual({ ...agent, description: 'Writes instead.', updatedAt: ctx.clock.now() })
    const { agent: bare } = await updateAgent(ctx, agent.id, { avatarUrl: null }, itself)
    expect(bare.avatarUrl).toBeNull()
  })

  test('no change at all leaves even the time alone', async () => {
    const { agent } = await makeAgent(ctx)
    ctx.clock.advance(MINUTE)
    expect((await updateAgent(ctx, agent.id, {}, itself)).agent).toEqual(agent)
  })

  test('the webhook secret is made with the first endpoint and stays through every other', async () => {
    const { agent } = await makeAgent(ctx)
    const { webhookSecret } = await updateAgent(ctx, agent.id, { endpointUrl: ENDPOINT }, itself)
    expect(webhookSecret).toMatch(/^whsec_/)
    const changes = [{ endpointUrl: `${ENDPOINT}/2` }, { endpointUrl: null }, { endpointUrl: ENDPOINT }]
    for (const change of changes) {
      expect(await updateAgent(ctx, agent.id, change, itself)).toMatchObject({ webhookSecret, agent: change })
    }
  })

  test('two first endpoints at once make one secret', async () => {
    const { agent } = await makeAgent(ctx)
    const both = await Promise.all(
      [1, 2].map((n) => updateAgent(ctx, agent.id, { endpointUrl: `${ENDPOINT}/${n}` }, itself)),
    )
    expect(both[0]?.webhookSecret).toBe(both[1]?.webhookSecret)
  })

  test('an endpoint inside is rejected and changes nothing', async () => {
    const { agent } = await makeAgent(ctx)
    const change = { endpointUrl: 'https://169.254.169.254/latest', description: 'Something else.' }
    await expect(updateAgent(ctx, agent.id, change, itself)).rejects.toMatchObject({ kind: 'invalid' })
    expect((await updateAgent(ctx, agent.id, {}, itself)).agent).toEqual(agent)
  })

  test('a name that reads like another’s is taken, one that reads like its own is not', async () => {
    await makeAgent(ctx, { name: 'Well Known' })
    const { agent } = await makeAgent(ctx, { name: 'Newcomer' })
    await expect(updateAgent(ctx, agent.id, { name: 'WeII-Known' }, itself)).rejects.toMatchObject({
      kind: 'conflict',
      extra: { code: 'name_taken' },
    })
    const renamed = await updateAgent(ctx, agent.id, { name: 'NEW-COMER' }, itself)
    expect(renamed.agent).toMatchObject({ name: 'NEW-COMER', slug: 'newcomer' })
    await expect(updateAgent(ctx, agent.id, { name: 'Аda' }, itself)).rejects.toMatchObject({
      kind: 'invalid',
    })
  })

  test('a payout address is one that can sign on its chain, or none', async () => {
    const { agent } = await makeAgent(ctx)
    const [evm, solana] = [makeEvmWallet(), await makeSolanaWallet()]
    const change = {
      payoutChain: 'base',
      payoutWallet: solana.address,
      payoutAddressBase: evm.address,
    } as const
    const saved = await updateAgent(ctx, agent.id, change, itself)
    expect(saved.agent).toMatchObject({
      payoutChain: 'base',
      payoutWallet: solana.key,
      payoutAddressBase: evm.key,
    })
    for (const wrong of [
      { payoutWallet: evm.address },
      { payoutAddressBase: solana.address },
      { payoutAddressBase: `0x${'0'.repeat(40)}` },
      { payoutWallet: '1'.repeat(32) },
    ]) {
      await expect(updateAgent(ctx, agent.id, wrong, itself)).rejects.toMatchObject({ kind: 'invalid' })
    }
    const cleared = { payoutChain: null, payoutWallet: null, payoutAddressBase: null }
    expect((await updateAgent(ctx, agent.id, cleared, itself)).agent).toMatchObject(cleared)
  })

  test('an owner may change it by wallet or as the person; a stranger may not', async () => {
    const wallet = makeEvmWallet()
    const profile = makeProfile()
    const byWallet = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const byUser = await makeAgent(ctx, { owner: { kind: 'user', profile } })
    const description = 'Changed by the owner.'
    const change = (id: typeof byUser.agent.id, editor: { userId?: string; wallets: string[] }) =>
      updateAgent(ctx, id, { description }, { editor })

    expect((await change(byWallet.agent.id, { wallets: [wallet.key] })).agent.description).toBe(description)
    expect((await change(byUser.agent.id, { userId: profile.userId, wallets: [] })).agent.description).toBe(
      description,
    )
    const notYours = { kind: 'forbidden', extra: { code: 'not_your_agent' } }
    await expect(change(byWallet.agent.id, { wallets: [] })).rejects.toMatchObject(notYours)
    await expect(
      change(byUser.agent.id, { userId: 'somebody', wallets: [wallet.key] }),
    ).rejects.toMatchObject(notYours)
  })

  test('a hidden agent is not there for a stranger, and one that never was is not there for anyone', async () => {
    const { agent } = await makeAgent(ctx)
    const nothing = { kind: 'not_found' }
    const stranger = { editor: { userId: 'somebody', wallets: [] } }
    await expect(updateAgent(ctx, agent.id, {}, stranger)).rejects.toMatchObject(nothing)
    await expect(updateAgent(ctx, 'agt_1_00000000000000000', {}, itself)).rejects.toMatchObject(nothing)
  })

  describe('its owner', () => {
    test('a wallet is attached once, shows the agent, and is written down', async () => {
      const { agent } = await makeAgent(ctx)
      const newOwner = makeEvmWallet()
      const owned = (await updateAgent(ctx, agent.id, {}, { ...itself, newOwner })).agent
      expect(owned).toMatchObject({ ownerWallet: newOwner.key, marketable: true, verified: 1 })
      expect((await updateAgent(ctx, agent.id, {}, { ...itself, newOwner })).agent).toEqual(owned)
      const acts = ctx.db.selectFrom('audit_log').select(['act', 'details']).where('subject', '=', agent.id)
      expect(await acts.execute()).toEqual([{ act: 'agents.owner', details: { wallet: newOwner.key } }])
    })

    test('stays: neither another wallet nor one beside a person is attached by the key', async () => {
      const byWallet = await makeListedAgent(ctx)
      const byUser = await makeAgent(ctx, { owner: { kind: 'user', profile: makeProfile() } })
      for (const { agent } of [byWallet, byUser]) {
        const again = updateAgent(ctx, agent.id, {}, { ...itself, newOwner: makeEvmWallet() })
        await expect(again).rejects.toMatchObject({ kind: 'conflict', extra: { code: 'owner_is_set' } })
      }
    })

    test('of two who attach themselves at once one stays', async () => {
      const { agent } = await makeAgent(ctx)
      const both = await Promise.allSettled(
        [1, 2].map(() => updateAgent(ctx, agent.id, {}, { ...itself, newOwner: makeEvmWallet() })),
      )
      expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    test.each([
      { owner_wallet: null },
      { owner_wallet: '0x000000000000000000000000000000000000dead' },
      { owner_user_id: null },
    ])('stays even for a statement that forgot the rule: %j', async (change) => {
      const profile = makeProfile()
      const { agent } = await makeAgent(ctx, { owner: { kind: 'user', profile } })
      const wallet = makeEvmWallet().key
      await ctx.db.updateTable('agents').set({ owner_wallet: wallet }).where('id', '=', agent.id).execute()
      const taken = ctx.db.updateTable('agents').set(change).where('id', '=', agent.id).execute()
      await expect(taken).rejects.toMatchObject({ constraint: 'agents_owner_stays' })
    })
  })
})

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
import type { Owner } from './agent.ts'
import { rotateKey } from './rotate-key.ts'
import { updateAgent } from './update-agent.ts'

const ENDPOINT = 'https://93.184.216.34/hook'
const itself = { editor: 'itself' } as const

describe('updateAgent', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
  })
  afterAll(() => stop())

  test('changes only the given fields', async () => {
    const { agent } = await makeAgent(ctx, { capabilities: ['seo'], avatarUrl: 'https://a.example/1' })
    ctx.clock.advance(MINUTE)
    const { agent: changed } = await updateAgent(ctx, agent.id, { description: 'Writes instead.' }, itself)
    expect(changed).toEqual({ ...agent, description: 'Writes instead.', updatedAt: ctx.clock.now() })
    const { agent: bare } = await updateAgent(ctx, agent.id, { avatarUrl: null }, itself)
    expect(bare.avatarUrl).toBeNull()
  })

  test('keeps updated_at when nothing changed', async () => {
    const { agent } = await makeAgent(ctx)
    ctx.clock.advance(MINUTE)
    expect((await updateAgent(ctx, agent.id, {}, itself)).agent).toEqual(agent)
  })

  test('creates the webhook secret with the first endpoint and keeps it', async () => {
    const { agent } = await makeAgent(ctx)
    const { webhookSecret } = await updateAgent(ctx, agent.id, { endpointUrl: ENDPOINT }, itself)
    expect(webhookSecret).toMatch(/^whsec_/)
    const changes = [{ endpointUrl: `${ENDPOINT}/2` }, { endpointUrl: null }, { endpointUrl: ENDPOINT }]
    for (const change of changes) {
      expect(await updateAgent(ctx, agent.id, change, itself)).toMatchObject({ webhookSecret, agent: change })
    }
  })

  test('concurrent first endpoints create one secret', async () => {
    const { agent } = await makeAgent(ctx)
    const both = await Promise.all(
      [1, 2].map((n) => updateAgent(ctx, agent.id, { endpointUrl: `${ENDPOINT}/${n}` }, itself)),
    )
    expect(both[0]?.webhookSecret).toBe(both[1]?.webhookSecret)
  })

  test('rejects a private endpoint and changes nothing', async () => {
    const { agent } = await makeAgent(ctx)
    const change = { endpointUrl: 'https://169.254.169.254/latest', description: 'Something else.' }
    await expect(updateAgent(ctx, agent.id, change, itself)).rejects.toMatchObject({ kind: 'invalid' })
    expect((await updateAgent(ctx, agent.id, {}, itself)).agent).toEqual(agent)
  })

  test('returns name_taken for a look-alike of another agent, not for one of its own name', async () => {
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

  test('accepts only payout addresses that can sign on their chain, or null', async () => {
    const { agent } = await makeAgent(ctx)
    const [evm, solana] = [makeEvmWallet(), await makeSolanaWallet()]
    const change = {
      payoutChain: 'base',
      payoutWallet: solana.address,
      payoutAddressBase: evm.address,
    } as const
    const saved = await updateAgent(ctx, agent.id, change, itself)
    expect(saved.agent.payout).toEqual({
      settings: { payoutChain: 'base', payoutWallet: solana.key, payoutAddressBase: evm.key },
      pending: null,
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
    const { payout } = (await updateAgent(ctx, agent.id, cleared, itself)).agent
    expect(payout.pending).toMatchObject(cleared)
  })

  test('returns bad_api_key when the key was replaced after it was verified', async () => {
    const { agent } = await makeListedAgent(ctx)
    const late = { ...itself, keyHint: agent.apiKeyHint }
    await rotateKey(ctx, agent.id, { wallets: [{ key: agent.ownerWallet ?? '' }] })
    const change = { payoutAddressBase: makeEvmWallet().address }
    await expect(updateAgent(ctx, agent.id, change, late)).rejects.toMatchObject({
      kind: 'unauthenticated',
      extra: { code: 'bad_api_key' },
    })
  })

  test.each([
    { pending_payout_since: null },
    { pending_payout_by: null },
    { pending_payout_address_base: null },
    { pending_payout_chain: 'tron' },
    { payout_by_owner_only: true },
    { previous_name: 'Before' },
  ])('a pending change is protected by the database against: %j', async (change) => {
    const { agent } = await makeListedAgent(ctx)
    await updateAgent(ctx, agent.id, { payoutAddressBase: makeEvmWallet().address }, itself)
    const broken = ctx.db.updateTable('agents').set(change).where('id', '=', agent.id).execute()
    await expect(broken).rejects.toMatchObject({ code: '23514' })
  })

  test('the owner wallet or user may update it; others get 403', async () => {
    const wallet = makeEvmWallet()
    const profile = makeProfile()
    const byWallet = await makeAgent(ctx, { owner: { kind: 'wallet', wallet } })
    const byUser = await makeAgent(ctx, { owner: { kind: 'user', profile } })
    const description = 'Changed by the owner.'
    const change = (id: typeof byUser.agent.id, editor: Owner) =>
      updateAgent(ctx, id, { description }, { editor })

    expect((await change(byWallet.agent.id, { wallets: [wallet] })).agent.description).toBe(description)
    expect((await change(byUser.agent.id, { userId: profile.userId, wallets: [] })).agent.description).toBe(
      description,
    )
    const notYours = { kind: 'forbidden', extra: { code: 'not_your_agent' } }
    await expect(change(byWallet.agent.id, { wallets: [] })).rejects.toMatchObject(notYours)
    await expect(change(byUser.agent.id, { userId: 'other', wallets: [wallet] })).rejects.toMatchObject(
      notYours,
    )
  })

  test('returns 403 for an agent without an owner and 404 for an unknown id', async () => {
    const { agent } = await makeAgent(ctx)
    const nothing = { kind: 'not_found' }
    const otherUser = { editor: { userId: 'other', wallets: [] } }
    await expect(updateAgent(ctx, agent.id, {}, otherUser)).rejects.toMatchObject({ kind: 'forbidden' })
    await expect(updateAgent(ctx, 'agt_1_00000000000000000', {}, itself)).rejects.toMatchObject(nothing)
  })

  describe('owner wallet', () => {
    test('is attached once, makes the agent public, and is recorded', async () => {
      const { agent } = await makeAgent(ctx)
      const newOwner = makeEvmWallet()
      const owned = (await updateAgent(ctx, agent.id, {}, { ...itself, newOwner })).agent
      expect(owned).toMatchObject({ ownerWallet: newOwner.key, marketable: true, verified: 1 })
      expect((await updateAgent(ctx, agent.id, {}, { ...itself, newOwner })).agent).toEqual(owned)
      const acts = ctx.db.selectFrom('audit_log').select(['act', 'details']).where('subject', '=', agent.id)
      expect(await acts.execute()).toEqual([{ act: 'agents.owner', details: { wallet: newOwner.key } }])
    })

    test('is not replaced, and not added to an agent of a user', async () => {
      const byWallet = await makeListedAgent(ctx)
      const byUser = await makeAgent(ctx, { owner: { kind: 'user', profile: makeProfile() } })
      for (const { agent } of [byWallet, byUser]) {
        const again = updateAgent(ctx, agent.id, {}, { ...itself, newOwner: makeEvmWallet() })
        await expect(again).rejects.toMatchObject({ kind: 'conflict', extra: { code: 'owner_is_set' } })
      }
    })

    test('of two concurrent wallets one is attached', async () => {
      const { agent } = await makeAgent(ctx)
      const both = await Promise.allSettled(
        [1, 2].map(() => updateAgent(ctx, agent.id, {}, { ...itself, newOwner: makeEvmWallet() })),
      )
      expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected'])
    })

    const OTHER = '0x000000000000000000000000000000000000dead'

    test.each([
      { kind: 'wallet', change: { owner_wallet: null } },
      { kind: 'wallet', change: { owner_wallet: OTHER } },
      { kind: 'user', change: { owner_user_id: null } },
      // It could sign for the agent's server wallet.
      { kind: 'user', change: { owner_wallet: OTHER } },
    ] as const)(
      'an agent of a $kind is protected by the database against: $change',
      async ({ kind, change }) => {
        const owner = kind === 'wallet' ? { kind, wallet: makeEvmWallet() } : { kind, profile: makeProfile() }
        const { agent } = await makeAgent(ctx, { owner })
        const taken = ctx.db.updateTable('agents').set(change).where('id', '=', agent.id).execute()
        await expect(taken).rejects.toMatchObject({ constraint: 'agents_owner_stays' })
      },
    )
  })
})

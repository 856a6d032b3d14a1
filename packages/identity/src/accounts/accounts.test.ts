import type { IdentityProfile } from '@market/core/ports/identity'
import { MINUTE } from '@market/kernel/clock'
import { makeEvmWallet, makeProfile, makeSolanaWallet } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { getAccount } from './get-account.ts'
import { saveAccount } from './save-account.ts'
import { updateProfile } from './update-profile.ts'

describe('accounts', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
  })
  afterAll(() => stop())

  const save = (profile: IdentityProfile) => ctx.transact((tx) => saveAccount(ctx, tx, profile))
  const keysOf = async (userId: string) =>
    (await getAccount(ctx.db, userId)).wallets.map((wallet) => wallet.key)

  test('saveAccount: creates the account once', async () => {
    const profile = makeProfile({ username: 'ada', displayName: 'Ada', email: 'ada@mail.example' })
    const first = await save(profile)
    expect(first).toMatchObject({ isNew: true, account: { username: 'ada', displayName: 'Ada', bio: null } })
    expect(await save(profile)).toMatchObject({ isNew: false, newWallets: [] })
  })

  test('saveAccount: concurrent calls create one account', async () => {
    const profile = makeProfile({ wallets: [makeEvmWallet().address] })
    const saved = await Promise.all(Array.from({ length: 8 }, () => save(profile)))
    expect(saved.filter((one) => one.isNew)).toHaveLength(1)
    expect(saved.filter((one) => one.newWallets.length === 1)).toHaveLength(1)
  })

  test('getAccount and updateProfile: return 404 no_account without an account', async () => {
    const noAccount = { kind: 'not_found', extra: { code: 'no_account' } }
    await expect(getAccount(ctx.db, 'unknown')).rejects.toMatchObject(noAccount)
    await expect(updateProfile(ctx, 'unknown', { bio: 'x' })).rejects.toMatchObject(noAccount)
  })

  test('saveAccount: links each wallet that can sign once, and no other address', async () => {
    const evm = makeEvmWallet()
    const solana = await makeSolanaWallet()
    const offCurve = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
    const wallets = [
      evm.address,
      evm.key,
      solana.address,
      'nonsense',
      `0x${'0'.repeat(40)}`,
      offCurve.slice(1),
    ]
    const { account, newWallets } = await save(makeProfile({ wallets }))
    expect([...newWallets].sort()).toEqual([evm.key, solana.key].sort())
    expect(account.wallets).toHaveLength(2)
    expect(account.wallets).toContainEqual({ key: evm.key, address: evm.address, chain: 'base' })
  })

  test('saveAccount: a wallet moves to the user of the latest claims', async () => {
    const wallet = makeEvmWallet()
    const [ada, bob] = [
      makeProfile({ wallets: [wallet.address] }),
      makeProfile({ wallets: [wallet.address] }),
    ]
    await save(ada)
    expect((await save(bob)).newWallets).toEqual([wallet.key])
    expect([await keysOf(ada.userId), await keysOf(bob.userId)]).toEqual([[], [wallet.key]])
    expect((await save(ada)).newWallets).toEqual([wallet.key])
    expect([await keysOf(ada.userId), await keysOf(bob.userId)]).toEqual([[wallet.key], []])
  })

  test('saveAccount: unlinks a wallet that the provider no longer lists', async () => {
    const [kept, removed, others] = [makeEvmWallet(), makeEvmWallet(), makeEvmWallet()]
    const ada = makeProfile({ wallets: [kept.address, removed.address] })
    const bob = makeProfile({ wallets: [others.address] })
    await save(ada)
    await save(bob)
    const { newWallets } = await save({ ...ada, wallets: [kept.address] })
    expect(newWallets).toEqual([])
    expect([await keysOf(ada.userId), await keysOf(bob.userId)]).toEqual([[kept.key], [others.key]])
  })

  test('saveAccount: concurrent claims for the same wallets do not deadlock, and each wallet has one user', async () => {
    const wallets = Array.from({ length: 4 }, () => makeEvmWallet().address)
    const users = Array.from({ length: 6 }, () => makeProfile())
    await Promise.all(
      users.map((user, at) => save({ ...user, wallets: at % 2 === 0 ? wallets : [...wallets].reverse() })),
    )
    const keys = (await Promise.all(users.map((user) => keysOf(user.userId)))).flat()
    expect(keys.sort()).toEqual(wallets.map((wallet) => wallet.toLowerCase()).sort())
  })

  test('saveAccount: updates provider fields and keeps the edited profile', async () => {
    const profile = makeProfile({
      username: 'old',
      displayName: 'Provider name',
      avatarUrl: 'https://a.example/1',
    })
    await save(profile)
    ctx.clock.advance(MINUTE)
    await updateProfile(ctx, profile.userId, { displayName: 'My name', bio: 'Mine', avatarUrl: null })
    const { account } = await save({
      ...profile,
      username: 'new',
      twitterUsername: 'handle',
      email: 'new@mail.example',
      displayName: 'Another provider name',
      avatarUrl: 'https://a.example/2',
    })
    expect(account).toMatchObject({
      username: 'new',
      twitterUsername: 'handle',
      email: 'new@mail.example',
      displayName: 'My name',
      bio: 'Mine',
      avatarUrl: null,
    })
  })

  test('updateProfile: changes only the given fields and updated_at', async () => {
    const { account } = await save(makeProfile({ displayName: 'Ada', avatarUrl: 'https://a.example/1' }))
    ctx.clock.advance(MINUTE)
    const changed = await updateProfile(ctx, account.userId, { bio: 'Draws' })
    expect(changed).toEqual({ ...account, bio: 'Draws', updatedAt: ctx.clock.now() })
    expect(await updateProfile(ctx, account.userId, { bio: null })).toMatchObject({
      bio: null,
      displayName: 'Ada',
    })
  })

  test('saveAccount: keeps updated_at when nothing changed', async () => {
    const profile = makeProfile({ username: 'same' })
    const { account } = await save(profile)
    ctx.clock.advance(MINUTE)
    expect((await save(profile)).account.updatedAt).toEqual(account.updatedAt)
  })
})

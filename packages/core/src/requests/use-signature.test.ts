import { DAY } from '@market/kernel/clock'
import { makeEvmWallet, makeSolanaWallet } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { forgetOldRequests } from './forget-old-requests.ts'
import { useSignature } from './use-signature.ts'

type Used = Parameters<typeof useSignature>[2]

describe('a single-use signature', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
  })
  afterAll(() => stop())

  const use = (used: Used) => ctx.transact((tx) => useSignature(ctx, tx, used))
  const signed = (said: Partial<Used> = {}): Used => ({
    wallet: makeEvmWallet(),
    purpose: 'agents.recover',
    signedAtMs: ctx.clock.now().getTime(),
    ...said,
  })

  test('counts once, however many use it at once', async () => {
    const used = signed({ wallet: await makeSolanaWallet() })
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => use(used)))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') {
        expect(result.reason).toMatchObject({ kind: 'unauthenticated', extra: { code: 'signature_used' } })
      }
    }
  })

  test('another purpose, another time or another wallet is another signature', async () => {
    const used = signed()
    await use(used)
    await use({ ...used, purpose: 'agents.update:agt_1' })
    await use({ ...used, signedAtMs: used.signedAtMs + 1 })
    await use({ ...used, wallet: makeEvmWallet() })
  })

  test('is not used up by a transaction that failed', async () => {
    const used = signed()
    const failing = ctx.transact(async (tx) => {
      await useSignature(ctx, tx, used)
      throw new Error('after all')
    })
    await expect(failing).rejects.toThrow('after all')
    await use(used)
    await expect(use(used)).rejects.toMatchObject({ extra: { code: 'signature_used' } })
  })

  test('is remembered for a day, long after its age alone rejects it', async () => {
    const used = signed()
    await use(used)
    ctx.clock.advance(DAY)
    await forgetOldRequests(ctx)
    await expect(use(used)).rejects.toMatchObject({ extra: { code: 'signature_used' } })
    ctx.clock.advance(1)
    await forgetOldRequests(ctx)
    await use(used)
  })
})

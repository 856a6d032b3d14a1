import { DAY } from '@market/kernel/clock'
import { makeEvmWallet, makeSolanaWallet } from '@market/testing/makers'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteOldSignatures, markSignatureUsed } from './used-signatures.ts'

type Used = Parameters<typeof markSignatureUsed>[2]

describe('markSignatureUsed', () => {
  let ctx: MarketContext
  let stop: () => Promise<void>
  beforeAll(async () => {
    const database = await testDatabase()
    ctx = marketContext({ db: database.db })
    stop = database.stop
  })
  afterAll(() => stop())

  const use = (used: Used) => ctx.transact((tx) => markSignatureUsed(ctx, tx, used))
  const signed = (fields: Partial<Used> = {}): Used => ({
    wallet: makeEvmWallet(),
    purpose: 'agents.recover',
    signedAtMs: ctx.clock.now().getTime(),
    ...fields,
  })

  test('accepts a signature once for concurrent requests', async () => {
    const used = signed({ wallet: await makeSolanaWallet() })
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => use(used)))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') {
        expect(result.reason).toMatchObject({ kind: 'unauthenticated', extra: { code: 'signature_used' } })
      }
    }
  })

  test('a different purpose, time or wallet is a different signature', async () => {
    const used = signed()
    await use(used)
    await use({ ...used, purpose: 'agents.update:agt_1' })
    await use({ ...used, signedAtMs: used.signedAtMs + 1 })
    await use({ ...used, wallet: makeEvmWallet() })
  })

  test('a signature stays usable after its transaction was rolled back', async () => {
    const used = signed()
    const failing = ctx.transact(async (tx) => {
      await markSignatureUsed(ctx, tx, used)
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    await use(used)
    await expect(use(used)).rejects.toMatchObject({ extra: { code: 'signature_used' } })
  })

  test('a used signature is stored for a day', async () => {
    const used = signed()
    await use(used)
    ctx.clock.advance(DAY)
    await deleteOldSignatures(ctx)
    await expect(use(used)).rejects.toMatchObject({ extra: { code: 'signature_used' } })
    ctx.clock.advance(1)
    await deleteOldSignatures(ctx)
    await use(used)
  })
})

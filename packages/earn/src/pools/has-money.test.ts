import type { Chain } from '@market/core/ports/chain'
import { usdc } from '@market/kernel/money'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { expect, test } from 'vitest'
import { hasMoneyInEarn } from '../withdrawals/index.ts'
import { readPools } from './read-pools.ts'
import { addPool, enter, MARKET, readingOf, USD, venueOf } from './test-venue.ts'

test('hasMoneyInEarn: a rest below the minimum payout is none, unless its venue is only worth less for now', async () => {
  const database = await testDatabase()
  const ctx = marketContext({ db: database.db })
  const chains = { [MARKET.network]: { minPayout: usdc(50_000n) } as Chain }
  const has = (...holders: string[]) => ctx.transact((tx) => hasMoneyInEarn({ chains }, tx, holders))
  try {
    await addPool(ctx)
    for (const [holder, amount] of [
      ['user:rich', 5n * USD],
      ['user:enough', 50_000n],
      ['agent:dust', 49_999n],
    ] as const)
      await enter(ctx, MARKET, { holder, amount, shares: amount })
    const shows = (value: bigint) =>
      readPools(
        { ...ctx, venues: { [MARKET.key]: venueOf(async () => readingOf(value)) } },
        { onPaused: () => {} },
      )
    await shows(5n * USD + 99_999n)
    expect(await has('user:nobody', 'agent:dust')).toBe(false)
    expect([await has('user:enough'), await has('agent:dust', 'user:rich')]).toEqual([true, true])
    ctx.clock.advance(1)
    await shows(0n)
    expect(await has('user:rich')).toBe(true)
  } finally {
    await database.stop()
  }
})

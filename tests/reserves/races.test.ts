import { startEvmNetwork } from '@market/testing/evm-network'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { FINALITY, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { openTreasury, type Treasury } from './treasury.ts'

const SNAPSHOTS = Number(process.env['RESERVE_SNAPSHOTS'] ?? 50)
const LEAST_SETTLED = 10

const network = await startEvmNetwork({ chainId: 8453 })
const payer = await fundedPayer(network)
const other = await fundedPayer(network)
afterAll(() => network.stop())

let treasury: Treasury
beforeEach(async () => {
  const database = await testDatabase()
  treasury = await openTreasury(database.db, network)
  return database.stop
})

const paidFor = (purpose: string, due: bigint) => treasury.payIn(payer, due, { purpose, due })

const steal = async (): Promise<void> => {
  await network.transfer(treasury.account, other.address, 5n)
  await network.mine(FINALITY)
}

/** What can happen to money while one snapshots; each is prepared before, and then done at its moment. */
const HAPPENINGS = {
  nothing: async () => async () => {},
  'a payment that is claimed': async () => async () => {
    await paidFor(treasury.somePurpose(), 11n)
  },
  'a payout that is signed and leaves': async () => {
    const payout = await askedFor(13n)
    return () => treasury.advance(payout)
  },
  'a payout that is settled': async () => {
    const payout = await askedFor(17n)
    await treasury.advance(payout)
    await network.mine(FINALITY)
    await treasury.watch()
    return () => treasury.advance(payout)
  },
  'a payout that is signed and settled': async () => {
    const payout = await askedFor(19n)
    return async () => {
      await treasury.advance(payout)
      await network.mine(FINALITY)
      await treasury.watch()
      expect(await treasury.advance(payout)).toBeUndefined()
    }
  },
} satisfies Record<string, () => Promise<() => Promise<unknown>>>

async function askedFor(amount: bigint) {
  const purpose = treasury.somePurpose()
  await paidFor(purpose, amount)
  return treasury.requestPayout(purpose, amount, newAccount().address)
}

describe('payments and payouts during snapshots', () => {
  const names = Object.keys(HAPPENINGS) as (keyof typeof HAPPENINGS)[]

  test.each(names)('are no shortage: during the snapshot %s, and afterwards any other', async (name) => {
    await paidFor('order:float', 1_000n)
    for (const next of names) {
      // One after the other, because both may send a batch.
      const [before, after] = [await HAPPENINGS[name](), await HAPPENINGS[next]()]
      const [snapshot] = await Promise.all([treasury.takeSnapshot(next === 'nothing'), before()])
      await Promise.all([treasury.watch(), after()])
      expect([snapshot.short, (await treasury.takeSnapshot()).short]).toEqual([0n, 0n])
    }
    // And a real one is seen to the micro when it is quiet again.
    await steal()
    expect((await treasury.takeSnapshot()).short).toBe(5n)
  })

  test(`cause no shortage in ${SNAPSHOTS} snapshots, and missing money is reported afterwards`, async () => {
    const buyers = [payer, other, await fundedPayer(network)]
    await paidFor('order:float', 1_000_000n)
    let [isOver, claimed, settled] = [false, 0, 0]
    const buy = async (buyer: typeof payer) => {
      while (!isOver) {
        const [purpose, due] = [treasury.somePurpose(), BigInt(1_000 + claimed)]
        await treasury.payIn(buyer, due, { purpose, due })
        claimed++
        const payout = await treasury.requestPayout(purpose, due, newAccount().address)
        while ((await treasury.advance(payout)) !== undefined) {
          await network.mine(FINALITY)
          await treasury.watch()
        }
        settled++
      }
    }
    const buying = Promise.all(buyers.map(buy))
    const shorts: bigint[] = []
    try {
      while (shorts.length < SNAPSHOTS || settled <= LEAST_SETTLED)
        shorts.push((await treasury.takeSnapshot(shorts.length % 20 === 0)).short)
    } finally {
      isOver = true
      await buying
    }
    expect(shorts.filter((short) => short !== 0n)).toEqual([])
    expect(Math.min(claimed, settled)).toBeGreaterThan(LEAST_SETTLED)
    await steal()
    expect((await treasury.takeSnapshot()).short).toBe(5n)
  })
})

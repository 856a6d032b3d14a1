import type { TestVaultKind } from '@market/testing/evm-venues'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, statusOf, withdrawalOf } from './depositors.ts'
import {
  type Depositor,
  deposit,
  type EarnWorld,
  NETWORK,
  startEarnWorld,
  step,
  stepUntil,
  USD,
  withdraw,
} from './earn-world.ts'
import { type Random, randomFrom } from './rules/histories.ts'

/** The gauntlet plays 300. */
const HISTORIES = Number(process.env['EARN_VAULT_HISTORIES'] ?? 1)
const SEED = Number(process.env['SEED'] ?? 1)
const STEPS = 10
const KINDS: readonly [TestVaultKind, ...TestVaultKind[]] = ['lending', 'fees', 'zeroMax', 'lending']

type Command = (world: EarnWorld, random: Random, who: Depositor) => Promise<unknown>

/** What is not possible now, such as borrowing more than there is, does nothing. */
const COMMANDS: Readonly<Record<string, Command>> = {
  deposit: (world, random, who) => deposit(world, who, random.between(1e6, 2e9)),
  withdrawPart: async (world, random, who) => withdraw(world, who, random.between(1e12, 1e14)),
  withdrawAll: (world, _, who) => withdraw(world, who, null),
  borrow: async ({ vault, network }, random) =>
    vault.borrow(((await network.balanceOf(vault.address)) * BigInt(random.below(101))) / 100n),
  badDebt: async ({ vault }, random) =>
    vault.badDebt(((await vault.debt()) * BigInt(random.below(60))) / 100n),
  repay: async ({ vault }, random) => vault.repay(await vault.debt(), random.between(1, 1e7)),
  donate: ({ vault }, random) => vault.donate(random.between(1, 1e8)),
  giveShares: ({ vault, wallet }, random) => vault.giveShares(wallet, random.between(1e6, 1e8)),
  pass: async ({ network }) => network.mine(12),
}
const NAMES = Object.keys(COMMANDS) as [string, ...string[]]

/** Whatever the vault did: each receipt is shared by the shares that it redeemed, and nothing is paid twice. */
async function expectFair({ database, ctx }: EarnWorld): Promise<void> {
  const { rows } = await sql<{
    id: string
    shares: string
    amount: bigint
    all_shares: string
    assets: bigint
  }>`
    select recall.id, part.shares::text as shares, part.amount_micros as amount, assets_micros as assets,
      (sum(part.shares) over (partition by recall.id))::text as all_shares
    from venue_transfers as recall join earn_recall_parts as part on venue_transfer_id = recall.id
    where recall.state = 'done'`.execute(database.db)
  for (const { shares, amount, all_shares, assets } of rows) {
    const exact = BigInt(all_shares) === 0n ? 0n : (assets * BigInt(shares)) / BigInt(all_shares)
    expect(amount - exact).toBeGreaterThanOrEqual(0n)
    expect(amount - exact).toBeLessThanOrEqual(1n)
  }
  const sums = await sql<{
    got: bigint
    paid: bigint
    filled: bigint
    sent: bigint
    minted: string
    held: string
  }>`
    select (select coalesce(sum(assets_micros), 0)::bigint from venue_transfers where kind = 'recall' and state = 'done') as got,
      (select coalesce(sum(paid_micros), 0)::bigint from earn_withdrawals) as paid,
      (select coalesce(sum(filled_micros), 0)::bigint from earn_withdrawals) as filled,
      (select coalesce(sum(amount_micros), 0)::bigint from payouts where kind = 'earn_withdrawal') as sent,
      (select coalesce(sum(shares), 0)::text from earn_deposit_parts) as minted,
      ((select coalesce(sum(shares), 0) from earn_positions)
        + (select coalesce(sum(burned_shares), 0) from earn_withdrawals))::text as held`.execute(database.db)
  const [sum] = sums.rows
  expect([sum?.paid, sum?.sent, sum?.held]).toEqual([sum?.got, sum?.filled, sum?.minted])
  const negative = await ctx.db
    .selectFrom('ledger_accounts')
    .select('id')
    .where('network', '=', NETWORK)
    .where('kind', '=', 'withdrawal')
    .where('balance_micros', '<', 0n)
    .execute()
  expect(negative).toEqual([])
}

test.each(Array.from({ length: HISTORIES }, (_, n) => SEED + n))(
  'history %i: every receipt is shared by shares, nothing is paid twice, and all can leave',
  async (seed) => {
    const random = randomFrom(seed)
    const world = await startEarnWorld(random.oneOf(KINDS))
    try {
      await step(world)
      const holders = [await enter(world, 200n * USD), await enter(world, 100n * USD)]
      for (let n = 0; n < STEPS; n++) {
        const command = COMMANDS[random.oneOf(NAMES)]
        await command?.(world, random, holders[random.below(2)] as Depositor).catch(() => undefined)
        await world.network.mine(12)
        await step(world)
      }
      await world.vault
        .debt()
        .then((debt) => world.vault.repay(debt, 0n))
        .catch(() => undefined)
      for (const one of holders) {
        await stepUntil(
          world,
          'nothing is on its way in',
          async () => (await statusOf(world, one)) === 'active',
        )
        await withdraw(world, one, null).catch(() => undefined)
      }
      world.clock.advance(600_000)
      const hasEnded = async (of: Depositor) => {
        const withdrawal = await withdrawalOf(world, of)
        return withdrawal?.status !== 'queued' || withdrawal.waitsFor === 'payout_minimum'
      }
      for (const one of holders) await stepUntil(world, 'everybody has left', () => hasEnded(one))
      await expectFair(world)
      await expectWhole(world)
    } finally {
      await world.stop()
    }
  },
)

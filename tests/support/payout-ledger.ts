import { evmChain } from '@market/chains/evm/evm-chain'
import { evmPayoutSender } from '@market/chains/evm/evm-payout-sender'
import { TRANSFER_TOPIC, topicOf } from '@market/chains/evm/transfers'
import { localEvmSigner } from '@market/chains/local-signers'
import { turnSwitch } from '@market/core/switches'
import { usdc } from '@market/kernel/money'
import { balanceOf, escrow, maintainLedgerPartitions, payable, post, world } from '@market/money/ledger'
import { advancePayout, type Payout, requestPayout, setShortage, submitPayouts } from '@market/money/payouts'
import type { EvmNetwork } from '@market/testing/evm-network'
import { makeProfile } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { sql } from 'kysely'
import type { Address } from 'viem'
import { FINALITY, newAccount, settingsFor } from '../chains/evm-world.ts'
import type { RestoredDatabase } from './backup.ts'
import { follow } from './follow.ts'
import { restoreCounters } from './payout-counters.ts'
import { ACCEPTING_KINDS } from './payout-kinds.ts'

export const NETWORK = 'base-mainnet'
export const FLOAT = usdc(1_000_000_000n)
export const NO_FEE_ADDRESSES = { 'solana-mainnet': [], 'base-mainnet': [], 'alt-mainnet': [] }

export const CAPS = {
  gasBudget: {},
  accountMinimum: usdc(5_000_000n),

  perPayout: usdc(50_000_000n),
  perPayee: usdc(80_000_000n),
  perDay: usdc(100_000_000n),
  cost: {},
}

export type PayoutLedger = Awaited<ReturnType<typeof startPayoutLedger>>

/** A treasury on a real chain with USDC, and gas accounts with native coin that send its payouts. */
export const fundedTreasury = async (chain: EvmNetwork) => {
  const account = { ...newAccount(), gas: [newAccount(), newAccount()] as const }
  for (const { address } of account.gas) await chain.fund(address)
  await chain.mint(account.address, FLOAT)
  const fundedAt = BigInt(String(await chain.rpc('eth_blockNumber', [])))
  // The ledgers have it from the beginning, so they do not read it.
  await chain.mine(FINALITY)
  return { ...account, fundedAt }
}

type Treasury = Awaited<ReturnType<typeof fundedTreasury>>

export const senderFor = (chain: EvmNetwork, { address, key, gas }: Treasury) =>
  evmPayoutSender(
    settingsFor(chain, address, { recentMs: 0 }),
    localEvmSigner(key),
    gas.map((one) => localEvmSigner(one.key)),
  )

/**
 * A database whose ledger holds the treasury's balance and was compared with the chain. A second one over the same
 * treasury simulates a restored backup: it lacks everything the first one did. `restored` is a real one.
 */
export async function startPayoutLedger(
  chain: EvmNetwork,
  {
    treasury,
    compared = true,
    restored,
  }: { treasury?: Treasury; compared?: boolean; restored?: RestoredDatabase } = {},
) {
  const account = treasury ?? (await fundedTreasury(chain))
  const database = restored ?? (await testDatabase())
  const actor = { kind: 'user', userId: makeProfile().userId, token: '', admin: true } as const
  const ctx = marketContext({ db: database.db, actor })
  if (restored === undefined) await maintainLedgerPartitions(ctx)
  const moves = [{ from: world(NETWORK), to: escrow(NETWORK, 'float'), amount: FLOAT }]
  const journal = { key: 'float', reason: 'float', subject: 'float', network: NETWORK, moves } as const
  if (restored === undefined) await ctx.transact((tx) => post(ctx, tx, journal))
  const settings = settingsFor(chain, account.address, { watchFrom: account.fundedAt + 1n })
  const sender = senderFor(chain, account)
  const app = {
    ...ctx,
    chains: { [NETWORK]: evmChain(settings) },
    payoutSenders: { [NETWORK]: sender },
    payoutKinds: ACCEPTING_KINDS,
    caps: CAPS,
    feeAddresses: NO_FEE_ADDRESSES,
    screenings: [],
  }
  /** Compares as the worker does. The clock is moved so that the comparison is due. */
  let isCompared = false
  const compare = () => {
    isCompared = true
    ctx.clock.advance(10_000)
    return follow(app, NETWORK)
  }
  if (compared) await compare()
  let subjects = 0
  const request = (fields: Partial<Parameters<typeof requestPayout>[2]> = {}) =>
    ctx.transact((tx) =>
      requestPayout(ctx, tx, {
        network: NETWORK,
        kind: 'payout',
        subject: `order-${subjects++}`,
        payee: newAccount().address,
        amount: usdc(5_000_000n),
        from: escrow(NETWORK, 'float'),
        ...fields,
      }),
    )
  const rowOf = ({ id }: Payout) =>
    ctx.db.selectFrom('payouts').selectAll().where('id', '=', id).executeTakeFirstOrThrow()
  const signaturesOf = ({ id }: Payout) =>
    ctx.db
      .selectFrom('payout_signatures')
      .selectAll()
      .where('payout_id', '=', id)
      .orderBy('round')
      .orderBy('n')
      .execute()
  return {
    ...{ account, ctx, sender, app, compare, request, rowOf, signaturesOf, stop: database.stop },
    url: database.url,
    /** As the worker does: reads the chain once it was compared, does the next step, and sends what is signed. */
    advance: async ({ id }: Payout) => {
      if (isCompared) await follow(app, NETWORK)
      const next = await advancePayout(app, id)
      await submitPayouts(app, sender)
      return next
    },
    submit: () => submitPayouts(app, sender),
    holds: ({ payee }: Payout) => chain.balanceOf(payee as Address),
    reserved: ({ id }: Payout) => balanceOf(ctx.db, payable(NETWORK, id)),
    freeze: (
      on: boolean,
      name: 'freeze_payouts' | 'freeze_payouts_base' | 'freeze_payouts_alt' = 'freeze_payouts',
    ) => turnSwitch(ctx, { name, on, reason: 'a test' }),
    shortBy: (micros: bigint) => ctx.transact((tx) => setShortage(ctx, tx, NETWORK, micros)),
    /** Sets a state that no action leads to, as a restore of an earlier backup does. */
    restoreState: ({ id }: Payout, state: Payout['state']) =>
      ctx.transact(async (tx) => {
        await sql`alter table payouts disable trigger payouts_transition`.execute(tx)
        await tx.updateTable('payouts').set({ state }).where('id', '=', id).execute()
        await restoreCounters(tx)
        await sql`alter table payouts enable trigger payouts_transition`.execute(tx)
      }),
    guard: () =>
      ctx.db.selectFrom('payout_guards').selectAll().where('network', '=', NETWORK).executeTakeFirstOrThrow(),
    outgoingTransfers: () =>
      ctx.db
        .selectFrom('outgoing_transfers')
        .selectAll()
        .orderBy('block_height')
        .orderBy('transfer_index')
        .execute(),
    /** How many payments have left the treasury. */
    count: async () => {
      const topics = [TRANSFER_TOPIC, topicOf(account.address)]
      const filter = { address: chain.usdc, fromBlock: '0x0', topics }
      return ((await chain.rpc('eth_getLogs', [filter])) as unknown[]).length
    },
  }
}

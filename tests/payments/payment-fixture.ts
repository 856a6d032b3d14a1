import type { Chain, Chains, IncomingTransfer } from '@market/core/ports/chain'
import { ApiError } from '@market/kernel/api-error'
import { type Usdc, usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { decideFinality, readNewBlocks } from '@market/money/follower'
import { balanceOf, escrow, surplus, suspense, totals } from '@market/money/ledger'
import {
  type ClaimedTransfer,
  claimTransfer,
  findPayment,
  parsePurpose,
  recheckTransfers,
} from '@market/money/payments'
import { testClock } from '@market/testing/clock'
import { marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { expect } from 'vitest'
import { ledgerFaults } from '../ledger/ledger-fixtures.ts'
import { onAnyReversal } from '../support/reversals.ts'

export const AGE_MS = 11 * 60_000
const HOUR = 3_600_000
export const CONNECTIONS = 20

interface TransferOptions {
  readonly due?: bigint
  readonly payers?: readonly string[]
}

/** A treasury with its own database, and the payment commands of the api and the worker. */
export async function openPaymentFixture(chain: Chain, clock = testClock(new Date())) {
  const database = await testDatabase({ maxConnections: CONNECTIONS })
  const chains: Chains = { [chain.network]: chain }
  const ctx = { ...marketContext({ db: database.db, clock }), chains }
  const network: Network = chain.network
  const gone: ClaimedTransfer[] = []
  const disagreements: { readonly network: Network; readonly providers: readonly string[] }[] = []

  const findTransfer = (
    reference: string,
    { due = 1n, payers }: TransferOptions = {},
  ): Promise<IncomingTransfer | undefined> =>
    findPayment(ctx, network, {
      reference,
      minAmount: usdc(due),
      notBefore: new Date(Date.now() - HOUR),
      notAfter: new Date(Date.now() + HOUR),
      ...(payers === undefined ? {} : { payers }),
    })
  const claimSeen = (seen: IncomingTransfer, purpose: string, due: Usdc) =>
    ctx.transact((tx) => claimTransfer(ctx, tx, { network, seen, purpose: parsePurpose(purpose), due }))

  const countArrivals = async (): Promise<number> => {
    const { count } = await ctx.db
      .selectFrom('ledger_journals')
      .select((select) => select.fn.countAll<bigint>().as('count'))
      .where('reason', '=', 'transfer.unmatched')
      .executeTakeFirstOrThrow()
    return Number(count)
  }

  return {
    ctx,
    /** Of its database. */
    url: database.url,
    network,
    clock,
    gone,
    disagreements,
    findTransfer,
    claimSeen,
    /** Observations and claims, as a command does. */
    async claim(reference: string, purpose: string, options: TransferOptions = {}) {
      const seen = await findTransfer(reference, options)
      if (seen === undefined) return 'pending' as const
      return claimSeen(seen, purpose, usdc(options.due ?? 1n))
    },
    /** Reads the newest blocks. Returns how many transfers arrived in suspense. */
    async watch(pageSize?: number) {
      const before = await countArrivals()
      await readNewBlocks(ctx, network, pageSize)
      if (chain.movementsAfter === undefined) await decideFinality(ctx, network)
      return (await countArrivals()) - before
    },
    async recheck(afterMs = 6_000) {
      await readNewBlocks(ctx, network)
      await this.decideFinality()
      return this.recheckAlone(afterMs)
    },
    decideFinality: () => decideFinality(ctx, network, (one) => void disagreements.push(one)),
    /** Without reading the final blocks. Returns how many transfers were checked by themselves. */
    async recheckAlone(afterMs = 6_000) {
      clock.advance(afterMs)
      return recheckTransfers(
        ctx,
        onAnyReversal(async (_tx, transfer) => void gone.push(transfer)),
        (one) => void disagreements.push(one),
      )
    },
    inEscrow: (purpose: string) => balanceOf(ctx.db, escrow(network, purpose)),
    inSurplus: (reference: string) => balanceOf(ctx.db, surplus(network, reference)),
    inSuspense: (reference: string) => balanceOf(ctx.db, suspense(network, reference)),
    /** The state each known transfer is in. */
    async states() {
      const rows = await ctx.db.selectFrom('transfers').select(['subject', 'state', 'purpose']).execute()
      return new Map(rows.map(({ subject, state, purpose }) => [subject, `${state} ${purpose}`.trim()]))
    },
    async expectExact(onChain: bigint) {
      expect(await totals(ctx.db, network)).toMatchObject({ imbalance: 0n, treasuryView: onChain })
      expect(await ledgerFaults(ctx.db)).toEqual([])
    },
    stop: () => database.stop(),
  }
}

export type PaymentFixture = Awaited<ReturnType<typeof openPaymentFixture>>

/** The code of an ApiError, or the result. */
export const outcome = async <T>(work: Promise<T>): Promise<T | string> => {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiError) return error.extra.code ?? error.kind
    throw error
  }
}

/** As many at once as there are connections. */
export async function atOnce<T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> {
  const done: T[] = []
  let next = 0
  const runOne = async () => {
    for (let n = next++; n < count; n = next++) done[n] = await work(n)
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, runOne))
  return done
}

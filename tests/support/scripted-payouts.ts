import type { Chain } from '@market/core/ports/chain'
import type { PayoutOutcome, PayoutSender, SignedPayout } from '@market/core/ports/payout-sender'
import { DATABASE_EPOCH } from '@market/database/epoch'
import type { Db } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import { escrow, maintainLedgerPartitions, post, world } from '@market/money/ledger'
import { type PayoutContext, requestPayout } from '@market/money/payouts'
import { testClock } from '@market/testing/clock'
import { marketContext } from '@market/testing/market-context'
import { ACCEPTING_KINDS } from './payout-kinds.ts'
import { CAPS, NETWORK, NO_FEE_ADDRESSES } from './payout-ledger.ts'

const FLOAT = usdc(1_000_000_000_000n)
export const COST = 1_000n

/** What the nodes say next. */
export interface Script {
  outcome: PayoutOutcome['kind']
  /** What a final transaction cost; undefined when the nodes do not say. */
  realCost: bigint | undefined
  rejects: boolean
  signs: boolean
}

let signatures = 0

export const newSignature = (): SignedPayout => ({
  reference: `0x${(++signatures).toString(16).padStart(64, '0')}`,
  bytes: '0x02',
  validTo: 1n,
})

function scriptedSender(script: Script): PayoutSender {
  const outcomeOf = (reference: string): PayoutOutcome => {
    if (script.outcome === 'failed') return { kind: 'failed', reference, reason: 'reverted' }
    if (script.outcome !== 'final') return { kind: script.outcome, reference }
    return { kind: 'final', reference, ...(script.realCost !== undefined && { cost: script.realCost }) }
  }
  return {
    network: NETWORK,
    treasury: `0x${'7'.repeat(40)}`,
    rejectionReason: async () => (script.rejects ? 'The payee is blocked' : undefined),
    async sign() {
      if (!script.signs) throw new Error('the worker died')
      return newSignature()
    },
    send: async () => {},
    observe: async (signed) => outcomeOf(signed.at(-1)?.reference ?? ''),
    estimateCost: async () => ({ native: COST, createsAccount: false }),
    nativeBalance: async () => 10n ** 30n,
    usdcBalance: async () => FLOAT,
  }
}

/**
 * The payouts of a database over a scripted chain: for what no real chain does a thousand times, or with a million rows. The
 * network was compared, and the ledger has the money of all payouts.
 */
export async function scriptedPayouts(db: Db, at?: Date) {
  const clock = testClock(at)
  const ctx = marketContext({ db, clock })
  await maintainLedgerPartitions(ctx)
  const moves = [{ from: world(NETWORK), to: escrow(NETWORK, 'float'), amount: FLOAT }]
  const journal = { key: 'float', reason: 'float', subject: 'float', network: NETWORK, moves } as const
  await ctx.transact((tx) => post(ctx, tx, journal))
  await db
    .insertInto('payout_guards')
    .values({
      network: NETWORK,
      database_epoch: DATABASE_EPOCH,
      horizon: 0n,
      compared_at: clock.now(),
      updated_at: clock.now(),
    })
    .execute()
  const script: Script = { outcome: 'unknown', realCost: undefined, rejects: false, signs: true }
  const chain = { displayAddress: (address: string) => address } as Chain
  const app: PayoutContext = {
    ...ctx,
    chains: { [NETWORK]: chain },
    payoutSenders: { [NETWORK]: scriptedSender(script) },
    payoutKinds: ACCEPTING_KINDS,
    caps: CAPS,
    feeAddresses: NO_FEE_ADDRESSES,
    screenings: [],
  }
  let subjects = 0
  const request = (fields: Partial<Parameters<typeof requestPayout>[2]> = {}) =>
    ctx.transact((tx) =>
      requestPayout(ctx, tx, {
        network: NETWORK,
        kind: 'payout',
        subject: `order-${subjects++}`,
        payee: `0x${subjects.toString(16).padStart(40, '0')}`,
        amount: usdc(5_000_000n),
        from: escrow(NETWORK, 'float'),
        ...fields,
      }),
    )
  return { ctx, clock, app, script, request }
}

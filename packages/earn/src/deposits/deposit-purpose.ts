import type { Buyer } from '@market/core/events'
import type { VenueMarket } from '@market/core/ports/venue'
import type { Tx } from '@market/database/transact'
import { lockBuyer } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { EVER } from '@market/kernel/clock'
import { formatUsd, type Usdc } from '@market/kernel/money'
import type { Network } from '@market/kernel/network'
import { surplus } from '@market/money/ledger'
import {
  claimTransfer,
  NamedBefore,
  openIntent,
  type PurposeRule,
  transferName,
} from '@market/money/payments'
import { returnSurplus, withdrawPayout } from '@market/money/payouts'
import {
  depositProblem,
  FIRST_DEPOSIT_MIN,
  holderOf,
  type MintProblem,
  type Pool,
  requirePool,
} from '../pools/index.ts'
import { type NamedDeposit, newDeposit, purposeOf } from './deposit.ts'
import { notifyHolder } from './notify-holder.ts'
import { countWaiting, findNamedDeposit, insertDeposit, lockDeposit, saveDeposit } from './store.ts'

export interface NewDeposit {
  /** Undefined: the first configured market. */
  readonly key: string | undefined
  readonly amount: Usdc
  /** That of the market's pool. */
  readonly network: Network
  /** The hash of the transaction, normalized. */
  readonly reference: string
}

interface Markets {
  readonly earnMarkets: readonly VenueMarket[]
}

/** A transfer to the treasury is registered as a deposit. Named again by the same holder, it is the same deposit. */
export const depositPurpose: PurposeRule<'earn_deposit', NewDeposit, NamedDeposit, Markets> = {
  purposeOf,
  due: ({ amount }) => amount,
  /** A transfer of any age: only the caller's own wallets count as payers, and a transfer is used once. */
  // fix: any-age
  notBefore: () => EVER,
  buyerOf: ({ holder }) => holder as Buyer,
  stored: ({ holder }) => ({ scope: holder, request: null }),

  async begin(ctx, { actor, wanted, keyHint }) {
    const pool = await requirePool(ctx, ctx.earnMarkets, wanted.key)
    const deposit = newDeposit(ctx, pool, holderOf(actor), wanted)
    const known = await findNamedDeposit(ctx.db, deposit)
    if (known !== undefined) return new NamedBefore(async () => sameDeposit(known, deposit))
    requireDepositable(pool, wanted.amount)
    return {
      target: deposit,
      async lock(tx) {
        await lockBuyer(tx, deposit.holder, keyHint)
        const before = await findNamedDeposit(tx, deposit)
        return before === undefined ? deposit : new NamedBefore(async () => sameDeposit(before, deposit))
      },
    }
  },

  async lock(tx, { purpose, reference }) {
    const deposit = await lockDeposit(tx, purpose.id)
    return deposit.status === 'waiting' ? { ...deposit, reference } : undefined
  },

  underpaid: (due, paid) =>
    new ApiError(
      'invalid',
      `The transfer is ${formatUsd(paid)} USDC, but ${formatUsd(due)} USDC was registered. Register it with its own amount.`,
      { code: 'underpaid' },
    ),

  async onNamed(ctx, tx, deposit, _, transfer) {
    const now = ctx.clock.now()
    const status = transfer === undefined ? 'waiting' : 'received'
    if (status === 'waiting') await requireFewWaiting(tx, deposit.holder)
    const named = { ...deposit, status, createdAt: now, updatedAt: now } as const
    await insertDeposit(tx, named)
    return named
  },

  async onPaid(ctx, tx, deposit, { network, transfer }) {
    const { id, amount: due, status } = deposit
    const purpose = purposeOf(deposit)
    await claimTransfer(ctx, tx, { network, seen: transfer, purpose, due })
    await returnSurplus(ctx, tx, { network, subject: id, purpose, due }, transfer)
    if (status === 'waiting') await saveDeposit(tx, deposit, { status: 'received' }, ctx.clock.now())
    return { ...deposit, status: 'received' }
  },

  async onFailed(ctx, tx, deposit, { message }) {
    await saveDeposit(tx, deposit, { status: 'failed', failure: message }, ctx.clock.now())
    await notifyHolder(ctx, tx, deposit, {
      kind: 'earn.deposit_failed',
      title: `Your deposit of ${formatUsd(deposit.amount)} USDC was not accepted`,
      body: message,
    })
  },

  /**
   * A reorganization removed the transfer. Money is moved to a venue only when its transfer is final, so no share exists yet.
   * The deposit waits again: the transaction is usually included in another block.
   */
  async onReversed(ctx, tx, transfer) {
    const { network, reference, payer, purpose } = transfer
    const deposit = await lockDeposit(tx, purpose.id)
    assert(
      deposit.status === 'received',
      `${deposit.id} is ${deposit.status}, but its transfer was not final`,
    )
    const to = surplus(network, transferName(transfer))
    await withdrawPayout(ctx, tx, { kind: 'surplus', subject: deposit.id, to })
    await saveDeposit(tx, deposit, { status: 'waiting' }, ctx.clock.now())
    const payers = payer === null ? null : [payer]
    const { amount: due } = deposit
    await openIntent(ctx, tx, { purpose, network, reference, payers, due, notBefore: EVER, submission: null })
  },
}

function sameDeposit(deposit: NamedDeposit, { poolKey, amount }: NamedDeposit): NamedDeposit {
  if (deposit.poolKey === poolKey && deposit.amount === amount) return deposit
  throw new ApiError(
    'conflict',
    `This transfer is registered as ${deposit.id}: ${formatUsd(deposit.amount)} USDC for ${deposit.poolKey}. Each transfer is one deposit.`,
    { code: 'transfer_used' },
  )
}

const KEEPS =
  'Your transfer was not used: register it later, use another market of GET /api/earn/pool/markets, or get it back by POST /api/unmatched-transfers/{id}/refund.'

const MESSAGES: Readonly<Record<MintProblem, string>> = {
  below_first_minimum: `The first deposit into an empty pool is at least ${formatUsd(FIRST_DEPOSIT_MIN)} USD. Your transfer was not used: get it back by POST /api/unmatched-transfers/{id}/refund.`,
  loses_too_much: 'This deposit would lose too much by rounding. Deposit more.',
  not_depositable: `This pool has lost almost everything and takes no deposits. ${KEEPS}`,
}

function requireDepositable(pool: Pool, amount: Usdc): void {
  if (pool.paused !== null)
    throw new ApiError('conflict', `${pool.key} takes no deposits while its venue is checked. ${KEEPS}`, {
      code: 'pool_paused',
    })
  if (pool.reading?.acceptsDeposits !== true)
    throw new ApiError('conflict', `${pool.key} takes no deposits now. ${KEEPS}`, { code: 'not_depositable' })
  const code = depositProblem(amount, pool)
  if (code !== undefined)
    throw new ApiError(code === 'not_depositable' ? 'conflict' : 'invalid', MESSAGES[code], { code })
}

/** Each one is looked up for an hour. */
const MOST_WAITING = 20

/** Anybody can name transfers that never come. */
async function requireFewWaiting(tx: Tx, holder: string): Promise<void> {
  // fix: few-waiting-deposits
  if ((await countWaiting(tx, holder)) >= MOST_WAITING)
    throw new ApiError(
      'conflict',
      `${MOST_WAITING} of your deposits wait for their transfers. Register this one when it is confirmed, or when fewer wait.`,
      { code: 'too_many_waiting' },
    )
}

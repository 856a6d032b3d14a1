import type { Network } from '@market/kernel/network'
import type { EndingName } from './endings.ts'
import type { FaultName } from './fault-injector.ts'
import type { RelayFaults } from './relay.ts'

/** A fault that is put into the product on purpose, as a change of its source: the harness must find it. */
export interface Bug {
  readonly name: string
  /** The invariants of which one must break: another one would be an accident. */
  readonly shownBy: readonly string[]
  readonly changes: readonly { readonly file: string; readonly from: string; readonly to: string }[]
  /** Run on the database first, where a constraint would catch the bug before it does harm. */
  readonly sql?: readonly string[]
  /** Overrides that make the bug likely to show: the same load, faults and invariants with other weights. */
  readonly aim: {
    readonly networks?: readonly Network[]
    readonly ending?: EndingName
    readonly thieves?: number
    readonly purchases?: number
    readonly careless?: boolean
    readonly orders?: number
    readonly abreast?: number
    readonly faults?: number
    readonly faultNames?: readonly FaultName[]
    readonly reorgs?: number
    /** How all nodes behave, from the first order to the end. */
    readonly nodes?: Partial<RelayFaults>
    readonly slotMs?: number
    readonly settledWithinMs?: number
  }
}

/**
 * What is sent arrives when whoever sent it has long begun again, and on Solana is still alive then: bytes that were
 * given up too early take effect all the same.
 */
const LATE = { nodes: { late: 1, lateMs: 7_000 }, slotMs: 100, settledWithinMs: 30_000 }

/** So few that each payout is looked at again before what was sent for it has arrived. */
const FEW = { orders: 5, abreast: 5 }

export const BUGS: readonly Bug[] = [
  {
    name: 'claim-without-key',
    shownBy: ['one transfer pays one order'],
    changes: [
      {
        file: 'money/src/payments/claim-transfer.ts',
        from: '  if (known.purpose !== null) throw transferUsed()\n',
        to: '  if (known.purpose !== null) {\n    await postNew(ctx, tx, arrivalJournal(transfer))\n    return { isNew: true }\n  }\n',
      },
    ],
    sql: ['drop index orders_by_payment'],
    aim: { thieves: 1, ending: 'left', faults: 0 },
  },
  {
    name: 'unguarded-transition',
    // Mostly the database rejects what the lock let through, which no caller should ever see.
    shownBy: ['the steps of an order are a path through its table', 'no request is answered 500'],
    changes: [
      {
        file: 'trade/src/orders/store.ts',
        from: "where('id', '=', id).forUpdate().executeTakeFirst()",
        to: "where('id', '=', id).executeTakeFirst()",
      },
    ],
    aim: { ending: 'approvedAtOnce', orders: 24, faults: 0 },
  },
  {
    name: 'broadcast-before-persist',
    shownBy: ['a payout leaves once, and is the one the ledger name'],
    changes: [
      {
        file: 'money/src/payouts/sign-payout.ts',
        from: '  const isStored = await transact(',
        to: '  await broadcast(sender, signed)\n  const isStored = await transact(',
      },
    ],
    aim: {
      networks: ['solana-mainnet'],
      ending: 'cancelled',
      faults: 8,
      faultNames: ['killAtSend'],
      reorgs: 0,
      ...LATE,
    },
  },
  {
    name: 'event-outside-transaction',
    shownBy: ['every step that is told has exactly one event', 'every event is about an order that exists'],
    changes: [
      {
        file: 'core/src/events/emit.ts',
        from: 'return insertEvent(tx, {',
        to: 'return insertEvent((ctx as unknown as { db?: Tx }).db ?? tx, {',
      },
    ],
    aim: { ending: 'cancelled', orders: 24, faults: 12, faultNames: ['cutAtCommit', 'killApi'], reorgs: 0 },
  },
  {
    name: 'second-nonce',
    shownBy: ['a payout leaves once, and is the one the ledger name'],
    changes: [
      {
        file: 'money/src/payouts/advance-payout.ts',
        from: '  if (payout.nonce === null || ageOf(ctx, signed) <= STUCK_MS) return\n  if ((await sender.nonces())?.next === payout.nonce) await signPayout(ctx, sender, payout, signed)\n',
        to: [
          '  if (payout.nonce === null) return',
          '  const nonce = await transact(ctx.db, async (tx) => {',
          '    const counter = await findNonceCounter(tx, payout.network)',
          "    if (counter === undefined) throw new Error('no counter')",
          '    await saveNonceCounter(tx, payout.network, { ...counter, next: counter.next + 1n })',
          '    return counter.next',
          '  })',
          '  await signPayout(ctx, sender, { ...payout, nonce }, signed)\n',
        ].join('\n'),
      },
      {
        file: 'money/src/payouts/advance-payout.ts',
        from: "import { findPayout, reserveDue, saveDue } from './store.ts'",
        to: "import { findNonceCounter, findPayout, reserveDue, saveDue, saveNonceCounter } from './store.ts'",
      },
      {
        file: 'chains/src/evm/evm-payout-sender.ts',
        from: '        previous.every((one) => one.nonce === nonce),\n',
        to: '        true,\n',
      },
      {
        file: 'chains/src/evm/observe-payout.ts',
        from: "assert(nonce !== null && signed.every((one) => one.nonce === nonce), 'one payout has one nonce')",
        to: "assert(nonce !== null, 'a payout has a nonce')",
      },
    ],
    aim: {
      networks: ['base-mainnet', 'alt-mainnet'],
      ending: 'cancelled',
      ...FEW,
      ...LATE,
    },
  },
  {
    name: 'nonce-reuse',
    // Of those that share a nonce one leaves. The product pays the others anew, so the guard that tells it to is taken away
    // with the numbers: what another payout's transaction used up then passes for paid.
    shownBy: ['a payout leaves once, and is the one the ledger name'],
    changes: [
      {
        file: 'money/src/payouts/authorize-payout.ts',
        from: 'await saveNonceCounter(tx, network, { treasury, next: nonce + 1n })',
        to: 'await saveNonceCounter(tx, network, { treasury, next: nonce })',
      },
      {
        file: 'chains/src/evm/observe-payout.ts',
        from: "  return ours[0] ?? { kind: 'failed', reference, reason: NONCE_USED_BY_ANOTHER }\n",
        to: "  return ours[0] ?? { kind: 'final', reference }\n",
      },
    ],
    sql: ['alter table payouts drop constraint payouts_nonce'],
    aim: { networks: ['base-mainnet', 'alt-mainnet'], ending: 'cancelled', ...LATE },
  },
  {
    name: 'double-sign',
    shownBy: ['a payout leaves once, and is the one the ledger name'],
    changes: [
      {
        file: 'chains/src/solana/observe-payout.ts',
        from: 'const mayStillLand = unseen.some((one) => blockHeight <= lastHeightOf(one) + EXPIRY_MARGIN)',
        to: 'const mayStillLand = false',
      },
    ],
    aim: { networks: ['solana-mainnet'], ending: 'cancelled', ...FEW, ...LATE },
  },
  {
    name: 'reorg-ignored',
    shownBy: ['what is on the chain is in the ledger, and what is not is not'],
    changes: [
      {
        file: 'money/src/payments/transfer.ts',
        from: "  state: seen.final ? 'final' : 'seen',\n",
        to: "  state: 'final',\n",
      },
    ],
    aim: {
      networks: ['base-mainnet', 'alt-mainnet'],
      ending: 'left',
      orders: 24,
      abreast: 4,
      faults: 6,
      faultNames: ['reorg'],
      careless: true,
    },
  },
  {
    name: 'settle-before-persist',
    shownBy: ['every buyer holds what it had, less what it paid, and what came back'],
    changes: [
      {
        file: 'trade/src/x402/buy-signed.ts',
        from: '    const settlement = await facilitator.sign(payment, terms, nonce)\n',
        to: '    const settlement = await facilitator.sign(payment, terms, nonce)\n    await facilitator.send(settlement).catch(() => undefined)\n',
      },
    ],
    aim: {
      networks: ['base-mainnet', 'alt-mainnet'],
      purchases: 1,
      faults: 8,
      faultNames: ['killApiAtSend'],
      reorgs: 0,
      ...LATE,
    },
  },
  {
    name: 'float-fee',
    shownBy: ['an order pays out what it must, to its agent or back to its buyer'],
    changes: [
      {
        file: 'money/src/ledger/fees.ts',
        from: 'const fee = share(price, FEE_BPS)\n',
        to: 'const fee = BigInt(Math.round(Number(price) * 0.1)) as Usdc\n',
      },
    ],
    aim: { ending: 'approved', faults: 0 },
  },
  {
    name: 'refund-and-payout',
    shownBy: ['no account is overdrawn'],
    changes: [
      {
        file: 'trade/src/orders/resolve-dispute.ts',
        from: "      requireTransition(order, 'award')\n",
        to: '',
      },
    ],
    sql: ['alter table ledger_accounts drop constraint ledger_accounts_not_overdrawn'],
    aim: { ending: 'refundedOrAwarded', faults: 0 },
  },
  {
    name: 'answer-before-effect',
    shownBy: ['an order that was answered is there', 'what was answered has happened'],
    changes: [
      {
        file: 'handlers/src/request-transaction.ts',
        from: 'await storeResponse(app, tx, lease, response)',
        to: 'await storeResponse(app, app.db, lease, response)',
      },
    ],
    aim: { ending: 'cancelled', orders: 24, faults: 12, faultNames: ['cutAtCommit', 'killApi'], reorgs: 0 },
  },
]

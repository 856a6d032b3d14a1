import { BOUNTY_BUGS } from './bounty-bugs.ts'
import type { Bug } from './bug.ts'
import { EARN_BUGS } from './earn-bugs.ts'

/**
 * A transaction arrives after its sender has started again, and on Solana it is still valid then: bytes that were
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
    aim: { thieves: 1, scenario: 'left', faults: 0 },
  },
  {
    name: 'unguarded-transition',
    // Mostly the database rejects what the lock let through, which no caller should ever see.
    shownBy: ['the steps of an order follow the transition table', 'no response has status 500'],
    changes: [
      {
        file: 'trade/src/orders/store.ts',
        from: "where('id', '=', id).forUpdate().executeTakeFirst()",
        to: "where('id', '=', id).executeTakeFirst()",
      },
    ],
    aim: { scenario: 'approvedAtOnce', orders: 24, faults: 0 },
  },
  {
    name: 'broadcast-before-persist',
    shownBy: ['every payout is sent once, by the recorded transaction'],
    changes: [
      {
        file: 'money/src/payouts/payout-authorizer.ts',
        from: '    answer(requests, signed, await authorizePayouts(ctx, sender, signed, balance, signed.length > 1))\n',
        to: '    await sender.send?.(signed[0]!.signed).catch(() => {})\n    answer(requests, signed, await authorizePayouts(ctx, sender, signed, balance, signed.length > 1))\n',
      },
    ],
    aim: {
      networks: ['solana-mainnet'],
      scenario: 'cancelled',
      faults: 8,
      faultNames: ['killAtSend'],
      reorgs: 0,
      ...LATE,
    },
  },
  {
    name: 'event-outside-transaction',
    shownBy: ['every step with an event has exactly one', 'every event belongs to an existing order'],
    changes: [
      {
        file: 'core/src/events/emit.ts',
        from: 'return insertEvent(tx, reader,',
        to: 'return insertEvent((ctx as unknown as { db?: Tx }).db ?? tx, reader,',
      },
    ],
    aim: { scenario: 'cancelled', orders: 24, faults: 12, faultNames: ['cutAtCommit', 'killApi'], reorgs: 0 },
  },
  {
    name: 'failed-while-alive',
    // What the treasury has authorized is executed after the payout has failed.
    shownBy: ['every payout is sent once, by the recorded transaction'],
    changes: [
      {
        file: 'money/src/payouts/advance-payout.ts',
        from: "    case 'unknown':\n      await sendUnsent(ctx, sender, payout, signed)\n",
        to: "    case 'unknown':\n      if (sender.batches !== undefined) return end('not executed')\n      await sendUnsent(ctx, sender, payout, signed)\n",
      },
    ],
    aim: {
      networks: ['base-mainnet', 'alt-mainnet'],
      scenario: 'cancelled',
      ...FEW,
      ...LATE,
      // Later than the first look at what was sent.
      nodes: { late: 1, lateMs: 12_000 },
    },
  },
  {
    name: 'random-mark',
    // The chain then accepts a payment as often as it is signed, and nothing tells which payout it was.
    shownBy: ['every payout is sent once, by the recorded transaction'],
    changes: [
      {
        file: 'chains/src/evm/payout-authorization.ts',
        from: '  return { from, to, value: payout.amount, validAfter: 0n, validBefore, nonce }\n',
        to: "  const random = crypto.getRandomValues(new Uint8Array(32))\n  return { from, to, value: payout.amount, validAfter: 0n, validBefore, nonce: ('0x' + Buffer.from(random).toString('hex')) as Hex }\n",
      },
    ],
    aim: { networks: ['base-mainnet', 'alt-mainnet'], scenario: 'cancelled', ...FEW },
  },
  {
    name: 'double-sign',
    shownBy: ['every payout is sent once, by the recorded transaction'],
    changes: [
      {
        file: 'chains/src/solana/observe-payout.ts',
        from: 'const mayStillLand = unseen.some((one) => blockHeight <= lastHeightOf(one) + EXPIRY_MARGIN)',
        to: 'const mayStillLand = false',
      },
    ],
    aim: { networks: ['solana-mainnet'], scenario: 'cancelled', ...FEW, ...LATE },
  },
  {
    name: 'reorg-ignored',
    shownBy: ['the ledger has exactly the transfers on the chain'],
    changes: [
      {
        file: 'money/src/payments/recheck-transfers.ts',
        from: "if (verdict === 'reversed') return reverse(ctx, tx, known, observation, purposes)",
        to: "if (verdict === 'reversed') return",
      },
    ],
    aim: {
      networks: ['base-mainnet', 'alt-mainnet'],
      scenario: 'left',
      orders: 24,
      abreast: 4,
      faults: 6,
      faultNames: ['reorg'],
      careless: true,
    },
  },
  {
    name: 'finality-by-one-node',
    // The first provider says that every block is final, and a reorganization removes it.
    shownBy: ['the ledger has exactly the transfers on the chain'],
    changes: [
      {
        file: 'chains/src/nodes/providers.ts',
        from: 'groups.filter(({ length }) => length >= minProviders)',
        to: 'groups.filter(({ length }) => length >= 1)',
      },
      {
        file: 'chains/src/evm/evm-nodes.ts',
        from: 'responses.map(({ response }) => response),\n    minProviders,',
        to: 'responses.map(({ response }) => response),\n    1,',
      },
    ],
    aim: {
      networks: ['base-mainnet', 'alt-mainnet'],
      scenario: 'left',
      orders: 24,
      abreast: 4,
      faults: 3,
      faultNames: ['reorgOfFinal'],
      careless: true,
      firstProvider: { isFinalEarly: true },
      // A payment is checked at the next sweep, which must be before its block is final.
      epochSlots: 50,
      reorgs: 0,
      settledWithinMs: 20_000,
    },
  },
  {
    name: 'settle-before-persist',
    shownBy: ['every buyer holds its initial balance less payments plus refunds'],
    changes: [
      {
        file: 'money/src/payments/settlements/submit-payment.ts',
        from: '  const settlement = await signSettlement(tx, facilitator, payment, terms)\n',
        to: '  const settlement = await signSettlement(tx, facilitator, payment, terms)\n  await facilitator.send(settlement).catch(() => undefined)\n',
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
    name: 'unbound-payout-without-wait',
    shownBy: ['a payout of an unproven payer does not leave before its wait is over'],
    changes: [
      {
        file: 'trade/src/orders/payment/order-money.ts',
        from: '    notBefore: payoutWait(order),\n',
        to: '',
      },
      {
        file: 'trade/src/orders/payment/payout-rules.ts',
        from: ', wait: waitOf(order) }',
        to: ' }',
      },
    ],
    aim: { networks: ['base-mainnet', 'alt-mainnet'], purchases: 1, unbound: true, faults: 0 },
  },
  {
    name: 'payout-without-balance',
    // Half of each payout is reserved, and the worker sends all of it. The law for the api's role would reject the request.
    shownBy: [
      'the payable balance is the amount of unfinished payouts',
      'the treasuries hold exactly the ledger balance',
    ],
    changes: [
      {
        file: 'money/src/payouts/request-payout.ts',
        from: 'to: payable(network, id), amount }]',
        to: 'to: payable(network, id), amount: (amount / 2n) as Usdc }]',
      },
      {
        file: 'money/src/payouts/funding-hold.ts',
        from: 'if (reserved !== amount)',
        to: 'if (reserved < 0n)',
      },
    ],
    sql: [
      'drop trigger payouts_requested_by_api on payouts',
      'drop trigger ledger_moves_payable_of_api on ledger_moves',
    ],
    aim: { scenario: 'approvedAtOnce', faults: 0 },
  },
  {
    name: 'float-fee',
    shownBy: ['fees are 10 % of the agents’ earnings'],
    changes: [
      {
        file: 'money/src/ledger/fees.ts',
        from: 'const fee = share(price, FEE_BPS)\n',
        to: 'const fee = BigInt(Math.round(Number(price) * 0.1)) as Usdc\n',
      },
    ],
    aim: { scenario: 'approved', faults: 0 },
  },
  {
    name: 'refund-and-payout',
    // The table of transitions stops it when the order is saved.
    shownBy: ['no response has status 500'],
    changes: [
      {
        file: 'trade/src/orders/resolve-dispute.ts',
        from: '  requireTransition(order, action)\n',
        to: '',
      },
    ],
    sql: ['alter table ledger_accounts drop constraint ledger_accounts_not_overdrawn'],
    aim: { scenario: 'refundedOrAwarded', faults: 0 },
  },
  {
    name: 'answer-before-effect',
    shownBy: ['every acknowledged order exists', 'every acknowledged action is recorded'],
    changes: [
      {
        file: 'handlers/src/request-transaction.ts',
        from: 'await storeResponse(app, tx, lease, response)',
        to: 'await storeResponse(app, app.db, lease, response)',
      },
    ],
    aim: { scenario: 'cancelled', orders: 24, faults: 12, faultNames: ['cutAtCommit', 'killApi'], reorgs: 0 },
  },
  ...BOUNTY_BUGS,
  ...EARN_BUGS,
]

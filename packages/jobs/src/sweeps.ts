import { deleteRemovedSweeps, deleteReplacedJobs, retryFailedJobsSoon } from '@market/core/queue'
import { rollUpStatistics } from '@market/core/statistics'
import { advanceWalletTransactions, startWithdrawDelays } from '@market/custody/wallets'
import { settleDeposits } from '@market/earn/deposits'
import { advanceVenueTransfers } from '@market/earn/venue-transfers'
import { settleWithdrawals } from '@market/earn/withdrawals'
import { recordPayoutAddresses } from '@market/identity/agents'
import { enqueueOverdueDeliveries } from '@market/identity/webhooks'
import { HOUR, MINUTE, SECOND } from '@market/kernel/clock'
import { readNewBlocks } from '@market/money/follower'
import { checkIntents, sendUnmined } from '@market/money/payments'
import { expireBounties } from '@market/offers/bounties'
import { readAgentWallets } from '@market/reserves/snapshots'
import { applyDueTransitions, offerRenewals } from '@market/trade/orders'
import { failExpiredGenerations } from '@market/work/workspaces'
import { perNetwork } from './per-network.ts'
import {
  reportAnchors,
  reportAudit,
  reportCounters,
  reportFinality,
  reportGas,
  reportHeldPayouts,
  reportOldTransactions,
  reportPools,
  reportRecheck,
  reportReserves,
  reportUnopenableWallets,
  type SweepContext,
  signReserves,
} from './reports.ts'
import { RETENTION } from './retention.ts'
import type { Sweep } from './start-sweeps.ts'

export const SWEEPS: readonly Sweep<SweepContext>[] = [
  {
    name: 'apply-due-transitions',
    everyMs: 2 * SECOND,
    does: 'Applies the deadlines of orders: expires, approves or cancels them',
    run: applyDueTransitions,
  },
  {
    name: 'expire-bounties',
    everyMs: 2 * SECOND,
    does: 'Expires claims at the end of their claim window, and bounties without an accepted claim after 30 days',
    run: expireBounties,
  },
  {
    name: 'advance-wallet-operations',
    everyMs: SECOND,
    does: 'Checks, signs, sends and follows what agents’ server wallets were asked to do',
    run: advanceWalletTransactions,
  },
  {
    name: 'advance-payouts',
    everyMs: SECOND,
    does: 'Signs, sends and follows payouts that are due',
    run: (ctx) => ctx.advancePayouts(),
  },
  {
    name: 'submit-payouts',
    everyMs: SECOND,
    does: 'Sends what EVM treasuries signed for payouts, many in one transaction of a gas account',
    run: (ctx) => ctx.submitPayouts(),
  },
  {
    name: 'end-old-transactions',
    everyMs: 10 * SECOND,
    does: 'Ends database sessions of the api whose transaction is older than a minute',
    run: reportOldTransactions,
  },
  {
    name: 'start-withdraw-delays',
    everyMs: SECOND,
    does: 'Notifies owners of new withdraw addresses and starts their 24 hours',
    run: startWithdrawDelays,
  },
  {
    name: 'record-payout-addresses',
    everyMs: SECOND,
    does: 'Records where agents are paid, and notifies owners of addresses that wait 24 hours',
    run: recordPayoutAddresses,
  },
  {
    name: 'read-pools',
    everyMs: 10 * SECOND,
    does: 'Reads what the venues of Earn would pay for the shares of their pools, and pauses deposits where it is less than they say',
    run: reportPools,
  },
  {
    name: 'advance-earn-moves',
    everyMs: SECOND,
    does: 'Moves money of the pools of Earn to their venues and back',
    run: advanceVenueTransfers,
  },
  {
    name: 'settle-deposits',
    everyMs: SECOND,
    does: 'Sends final deposits to their venue, and gives shares for those that are there or refunds them',
    run: settleDeposits,
  },
  {
    name: 'settle-withdrawals',
    everyMs: SECOND,
    does: 'Takes shares from positions, redeems them in the venue, and pays what it paid for them',
    run: settleWithdrawals,
  },
  {
    name: 'fail-expired-generations',
    everyMs: 2 * SECOND,
    does: 'Fails requests in workspaces that the agent did not answer in time, and gives their units back',
    run: failExpiredGenerations,
  },
  {
    name: 'offer-renewals',
    everyMs: MINUTE,
    does: 'Tells buyers of subscriptions, 3 days before the end, how to renew them',
    run: offerRenewals,
  },
  {
    name: 'check-intents',
    everyMs: 2 * SECOND,
    does: 'Completes what waits for a payment when it is confirmed, and ends the wait when it never can be',
    run: (ctx) => checkIntents(ctx, ctx.purposes),
  },
  {
    name: 'send-unmined',
    everyMs: 10 * SECOND,
    does: 'Replaces x402 settlements that are not mined with a higher fee at the same nonce',
    run: sendUnmined,
  },
  {
    name: 'read-new-blocks',
    everyMs: 5 * SECOND,
    does: 'Records what moved into each treasury and out of it, up to the newest block',
    run: perNetwork(readNewBlocks),
  },
  {
    name: 'decide-finality',
    everyMs: 10 * SECOND,
    does: 'Makes transfers final, for whole ranges of blocks on which enough providers agree',
    run: reportFinality,
  },
  {
    name: 'recheck-transfers',
    everyMs: 5 * SECOND,
    does: 'Checks transfers that were not in the final blocks where they were seen, and reverses those that the chain dropped',
    run: reportRecheck,
  },
  {
    // Payouts stay paused after a database restart until this has run; checkReserves itself limits how often it reads the chain.
    name: 'check-reserves',
    everyMs: 5 * SECOND,
    does: 'Compares each treasury with the ledger about every 30 s, and pauses payouts when money is missing',
    run: reportReserves,
  },
  {
    name: 'read-agent-wallets',
    everyMs: 10 * SECOND,
    does: 'Reads once a day what agents’ server wallets hold, 10,000 wallets in a run',
    run: perNetwork(readAgentWallets),
  },
  {
    name: 'check-payouts',
    everyMs: 10 * SECOND,
    does: 'Reports payouts that the ledger or their order does not justify, and a used-up budget of native coin',
    run: reportHeldPayouts,
  },
  {
    name: 'check-payout-counters',
    everyMs: MINUTE,
    does: 'Compares the counters of what is in flight with the payouts',
    run: reportCounters,
  },
  {
    name: 'anchor-reserves',
    everyMs: MINUTE,
    does: "Publishes the roots of the day's reserve snapshots in a memo on Solana",
    run: reportAnchors,
  },
  {
    name: 'sign-anchors',
    everyMs: MINUTE,
    does: 'Signs the text of each anchor with the keys of the EVM treasuries',
    run: signReserves,
  },
  {
    name: 'verify-audit',
    everyMs: HOUR,
    does: 'Verifies the whole audit log and writes its head into the security log',
    run: reportAudit,
  },
  {
    name: 'check-gas',
    everyMs: MINUTE,
    does: 'Measures how many x402 settlements the gas accounts can pay for',
    run: reportGas,
  },
  {
    name: 'check-wallet-seals',
    everyMs: MINUTE,
    does: 'Reports new server wallets whose seed this worker has no key to open',
    run: reportUnopenableWallets,
  },
  {
    name: 'enqueue-overdue-deliveries',
    everyMs: 5 * SECOND,
    does: 'Enqueues webhook deliveries that are due and have no job',
    run: enqueueOverdueDeliveries,
  },
  {
    name: 'retry-failed-jobs',
    everyMs: 5 * SECOND,
    does: 'Limits the wait before failed jobs are tried again',
    run: retryFailedJobsSoon,
  },
  {
    name: 'roll-up-statistics',
    everyMs: 5 * SECOND,
    does: 'Moves changes of figures into their totals',
    run: rollUpStatistics,
  },
  {
    name: 'delete-replaced-jobs',
    everyMs: MINUTE,
    does: 'Deletes jobs that were replaced while a dead worker had them locked, and those of sweeps that no longer exist',
    run: (ctx) =>
      Promise.all([
        deleteReplacedJobs(ctx),
        deleteRemovedSweeps(
          ctx,
          SWEEPS.map(({ name }) => name),
        ),
      ]),
  },
  ...RETENTION,
]

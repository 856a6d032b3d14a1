import { deleteOldActivity } from '@market/core/activity'
import { maintainEventPartitions } from '@market/core/events'
import { deleteOldRequests } from '@market/core/idempotency'
import { deleteOldNotifications } from '@market/core/notifications'
import { deleteOldSignatures } from '@market/core/signatures'
import { deleteOldSwaps } from '@market/custody/swaps'
import { deleteUnusedUploads } from '@market/files/uploads'
import { deleteOldRecords } from '@market/identity/oauth'
import { deleteOldSessions } from '@market/identity/sessions'
import { deleteOldAttempts, maintainDeliveryPartitions } from '@market/identity/webhooks'
import { HOUR, MINUTE } from '@market/kernel/clock'
import { maintainLedgerPartitions } from '@market/money/ledger'
import { deleteOldSnapshots } from '@market/reserves/snapshots'
import { deleteVoidPurchases } from '@market/trade/x402'
import { endFileUses } from './end-file-uses.ts'
import type { SweepContext } from './reports.ts'
import type { Sweep } from './start-sweeps.ts'

/** Deletes what is old, and maintains the monthly partitions. */
export const RETENTION: readonly Sweep<SweepContext>[] = [
  {
    name: 'delete-old-requests',
    everyMs: MINUTE,
    does: 'Deletes stored responses of idempotent requests after their time',
    run: deleteOldRequests,
  },
  {
    name: 'delete-old-signatures',
    everyMs: MINUTE,
    does: 'Deletes used wallet signatures that are too old to be replayed',
    run: deleteOldSignatures,
  },
  {
    name: 'delete-old-notifications',
    everyMs: HOUR,
    does: 'Deletes notifications after 90 days',
    run: deleteOldNotifications,
  },
  {
    name: 'delete-old-activity',
    everyMs: HOUR,
    does: 'Deletes entries of the activity feed after 90 days',
    run: deleteOldActivity,
  },
  {
    name: 'delete-old-oauth-records',
    everyMs: HOUR,
    does: 'Deletes expired sessions, codes and tokens of connected programs, and programs that nobody connected for 30 days',
    run: (ctx) => Promise.all([deleteOldRecords(ctx), deleteOldSessions(ctx)]),
  },
  {
    name: 'delete-old-attempts',
    everyMs: HOUR,
    does: 'Deletes counters of attempts to endpoints that never responded with 2xx, after their hour',
    run: deleteOldAttempts,
  },
  {
    name: 'delete-old-swaps',
    everyMs: HOUR,
    does: 'Deletes swaps that were never executed after a day, and others after 90 days',
    run: deleteOldSwaps,
  },
  {
    name: 'delete-old-snapshots',
    everyMs: HOUR,
    does: 'Deletes reserve snapshots without a proof after a week, and the leaves of old proofs (of daily ones after 90 days)',
    run: deleteOldSnapshots,
  },
  {
    name: 'delete-void-purchases',
    everyMs: HOUR,
    does: 'Deletes x402 purchases that were never paid',
    run: deleteVoidPurchases,
  },
  {
    name: 'end-file-uses',
    everyMs: 10 * MINUTE,
    does: 'Releases the files of orders, bounties and purchases that ended unpaid a day ago',
    run: endFileUses,
  },
  {
    name: 'delete-unused-uploads',
    everyMs: 10 * MINUTE,
    does: 'Deletes uploaded files that nothing refers to after a day, and what an interrupted upload left after an hour',
    run: deleteUnusedUploads,
  },
  {
    name: 'maintain-event-partitions',
    everyMs: HOUR,
    does: 'Creates the next monthly partitions of events and drops old ones',
    run: maintainEventPartitions,
  },
  {
    name: 'maintain-ledger-partitions',
    everyMs: HOUR,
    does: 'Creates the next monthly partitions of the ledger',
    run: maintainLedgerPartitions,
  },
  {
    name: 'maintain-delivery-partitions',
    everyMs: HOUR,
    does: 'Creates the next monthly partitions of webhook deliveries and drops old ones',
    run: maintainDeliveryPartitions,
  },
]

export { enqueue, enqueueDelivery, enqueueDeliveryCall, runSweepCall } from './enqueue.ts'
export type { JobName, JobPayloads } from './job.ts'
export {
  deleteReplacedJobs,
  queueMetrics,
  recordHeartbeat,
  releaseJobsOfDeadWorkers,
  releaseLostJobs,
  removeHeartbeat,
  retryFailedJobsSoon,
} from './maintenance.ts'
export { endOldTransactions } from './old-transactions.ts'
export type { QueueMetrics } from './store.ts'
export { deleteRemovedSweeps, runSweep, startDueSweeps, startSweepsNow } from './sweeps.ts'

export {
  acquireLease,
  deleteOldRequests,
  keyReused,
  releaseLease,
  resealResponses,
  storeResponse,
} from './leases.ts'
export type { Lease, RequestKey } from './request.ts'

export { acquireLease, deleteOldRequests, releaseLease, resealResponses, storeResponse } from './leases.ts'
export type { Lease, RequestKey } from './request.ts'

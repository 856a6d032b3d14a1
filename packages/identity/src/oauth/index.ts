export type { Grant } from './grant.ts'
export {
  agentsOfUser,
  createGrant,
  endConnection,
  endGrantByServer,
  findActiveGrant,
  listConnections,
} from './grants.ts'
export { loadKeys, type OAuthKeys, resealOAuthKeys } from './keys.ts'
export {
  consumeRecord,
  deleteOldRecords,
  deleteRecord,
  findRecord,
  type OAuthPayload,
  saveRecord,
} from './records.ts'
export { deleteGrantsOf } from './store.ts'

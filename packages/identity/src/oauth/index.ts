export { recordChange } from './changes.ts'
export type { NewGrant } from './grant.ts'
export {
  agentsOfUser,
  type Connection,
  createGrant,
  type EndedGrant,
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

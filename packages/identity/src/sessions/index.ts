export {
  deleteOldSessions,
  deleteSessionsOf,
  endSession,
  endSessionsOf,
  resealSessions,
  revoke,
} from './end-session.ts'
export {
  findOwnSession,
  findUserSession,
  openUserSession,
  openWalletSession,
  type UserSession,
} from './read-session.ts'
export { sessionKindOf } from './session.ts'
export { type StartedSession, startUserSession, startWalletSession } from './start-session.ts'

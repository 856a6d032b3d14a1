export { record } from './record.ts'
export { findDetails } from './store.ts'
export { verifyAudit } from './verify-audit.ts'

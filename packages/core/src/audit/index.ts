export { record } from './record.ts'
export { verifyAudit } from './verify-audit.ts'

export { type AuditCheck, checkAudit, getAuditHead, recordRead } from './check-audit.ts'
export { record } from './record.ts'
export { verifyAudit } from './verify-audit.ts'

export { dueOf } from './acceptance.ts'
export { claimPurpose } from './claim-purpose.ts'
export { listAcceptances, type NamedTransfer } from './list-acceptances.ts'

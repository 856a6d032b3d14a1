export type { CreatorFee, FeeTotal } from './creator-fee.ts'
export { listCreatorFees } from './list-creator-fees.ts'
export { type CreatorFeeSettings, recordCreatorFee } from './record-creator-fee.ts'
export { settleCreatorFee } from './settle-creator-fee.ts'

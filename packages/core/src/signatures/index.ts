export { deleteOldSignatures, markSignatureUsed } from './used-signatures.ts'

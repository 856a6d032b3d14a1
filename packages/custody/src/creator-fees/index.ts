export { splitFees } from './split.ts'

export {
  type Account,
  cold,
  escrow,
  fees,
  idOf,
  payable,
  stripesOf,
  surplus,
  suspense,
  venue,
  withdrawal,
  world,
} from './accounts.ts'
export { addFee, FEE_BPS, splitByShare, splitPrice, takeOffFee } from './fees.ts'
export type { Journal, Move } from './journal.ts'
export { post, postAllNew, postNew } from './post.ts'
export { balanceOf, statementOf, totals } from './read-ledger.ts'
export { isOverdraft, maintainLedgerPartitions, openAccounts } from './store.ts'

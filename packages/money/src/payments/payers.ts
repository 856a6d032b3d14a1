import { sql } from 'kysely'

/** The payer of what is in escrow for a purpose. Queried by `network` and `purpose`. */
export const escrowPayers = sql`
  (select network, purpose, payer, state from transfers where purpose <> '' and state <> 'gone')`

/** The payer of money of a transfer that has no purpose, and whether all of it has none. Queried by `network` and `subject`. */
export const unmatchedPayers = sql`
  (select network, subject, payer, purpose = '' as is_unclaimed from transfers)`

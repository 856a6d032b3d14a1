import { type SqlBool, sql } from 'kysely'

/**
 * A condition that is always true. A statement with it commits without waiting for the disk (`synchronous_commit`), and
 * so does the transaction it is part of. If Postgres itself crashes, what was committed in the last second may be
 * lost; use it only for rows that time out or are written again.
 */
export const withoutFlush = sql<SqlBool>`set_config('synchronous_commit', 'off', true) = 'off'`

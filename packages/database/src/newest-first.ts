import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'

export interface NewestFirstPage {
  readonly limit: number
  /** The last row of the previous page. */
  readonly after?: { readonly createdAt: Date; readonly id: string } | undefined
}

/** The rows that follow the previous page in a list that is newest first. */
export const isOlder = ({ after }: NewestFirstPage) =>
  after === undefined
    ? sql<SqlBool>`true`
    : sql<SqlBool>`(created_at, id) < (${after.createdAt}::timestamptz, ${after.id})`

/** One page of a query, newest first; for `$call`. */
export const newestFirstPage =
  (page: NewestFirstPage) =>
  <DB, TB extends keyof DB, Row>(query: SelectQueryBuilder<DB, TB, Row>): SelectQueryBuilder<DB, TB, Row> =>
    query
      .where(isOlder(page))
      .orderBy(sql.ref('created_at'), 'desc')
      .orderBy(sql.ref('id'), 'desc')
      .limit(page.limit)

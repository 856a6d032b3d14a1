import type pg from 'pg'
import type { Statement } from './order-statements.ts'

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly PlanNode[]
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const rowsReadBy = (node: PlanNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops']

/** Which growing tables a statement reads from end to end, and how many of their rows it reads. Nothing stays changed. */
export async function planCost(
  pool: pg.Pool,
  { sql, parameters }: Statement,
  isGrowing: (table: string) => boolean,
): Promise<{ scanned: string[]; rows: number }> {
  await pool.query('begin')
  try {
    const { rows } = await pool.query<{ 'QUERY PLAN': { Plan: PlanNode }[] }>(
      `explain (analyze, timing off, format json) ${sql}`,
      [...parameters],
    )
    const nodes = rows
      .flatMap((row) => row['QUERY PLAN'])
      .flatMap(({ Plan }) => nodesOf(Plan))
      .filter((node) => isGrowing(node['Relation Name'] ?? ''))
    return {
      // A scan of an empty partition reads nothing.
      scanned: nodes
        .filter((node) => node['Node Type'] === 'Seq Scan' && rowsReadBy(node) > 0)
        .map((node) => String(node['Relation Name'])),
      rows: nodes.reduce((sum, node) => sum + rowsReadBy(node), 0),
    }
  } finally {
    await pool.query('rollback')
  }
}

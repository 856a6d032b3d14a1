import { percentile } from '../support/until.ts'

/** One line of the table that `npm run bench` prints. */
export interface BenchRow {
  readonly what: string
  readonly measured: string
  readonly aim: string
  /** CPU time per call, ours and that of the bare engine. */
  readonly cpu: string
}

/** Prints the rows; under `npm run bench` it also hands them over for the common table. */
export function report(rows: readonly BenchRow[]): void {
  for (const { what, measured, aim, cpu } of rows)
    console.log(`${what}: ${measured}${aim && ` (aim ${aim})`}${cpu && `; ${cpu}`}`)
  process.send?.(rows)
}

/** The median and, in brackets, the least and the most. */
export function spread(ratios: readonly number[]): string {
  const [least, median, most] = [0, 0.5, 1].map((share) => percentile(ratios, share).toFixed(2))
  return `${median} (${least} to ${most})`
}

export const median = (numbers: readonly number[]): number => percentile(numbers, 0.5)

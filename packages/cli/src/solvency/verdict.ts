import type { ReserveCheck } from '@market/solvency'
import type { Check } from '../terminal/printer.ts'

interface Verdict {
  /** Only `proven` is a success: a check that was skipped or is a warning proves nothing. */
  readonly verdict: 'proven' | 'not_proven' | 'failed'
  readonly status: 0 | 1 | 3
  readonly sentence: string
  /** The command that could prove more. */
  readonly next: string | undefined
}

export function verdictOf(checks: readonly ReserveCheck[], isAnchored: boolean): Verdict {
  const count = (...results: readonly Check['result'][]) =>
    `${checks.filter(({ result }) => results.includes(result)).length} of ${checks.length} checks`
  const missing = [...new Set(checks.flatMap((check) => check.missing ?? []))]
  const next = missing.length === 0 ? undefined : `market solvency verify <your options> ${missing.join(' ')}`
  if (checks.some(({ result }) => result === 'FAILED'))
    return { verdict: 'failed', status: 1, sentence: `Failed: ${count('FAILED')}.`, next }
  if (checks.some(({ result }) => result !== 'ok'))
    return {
      verdict: 'not_proven',
      status: 3,
      sentence: `Not proven: ${count('warning', 'skipped')}. No check failed.`,
      next,
    }
  const sentence = isAnchored
    ? 'Proven: the listed leaves are in the anchored roots, and the addresses that you named, or that signed the anchor, hold what was owed in it and what the API says is owed now.'
    : 'Proven: the listed leaves are in the published roots, and the addresses that you named hold what the API says is owed. Without an anchor, the API can show other roots to other users.'
  return { verdict: 'proven', status: 0, sentence, next }
}

/** As it is printed: what to add is below the check. */
export const printable = ({ missing, ...check }: ReserveCheck): Check => ({
  ...check,
  ...(missing !== undefined && missing.length > 0 && { next: missing.join(' ') }),
})

import type { TransferQuery } from './chain.ts'

interface Candidate {
  readonly index: number
  readonly amount: bigint
}

/** The best transfer first: one that reaches the expected amount, then an unused one, then the closest amount. */
export const byFit =
  ({ minAmount, expected = minAmount, used = [] }: Pick<TransferQuery, 'minAmount' | 'expected' | 'used'>) =>
  (a: Candidate, b: Candidate): number => {
    const [isLessA, isLessB] = [a.amount < expected, b.amount < expected]
    if (isLessA !== isLessB) return isLessA ? 1 : -1
    const [isUsedA, isUsedB] = [used.includes(a.index), used.includes(b.index)]
    if (isUsedA !== isUsedB) return isUsedA ? 1 : -1
    const closer = isLessA ? b.amount - a.amount : a.amount - b.amount
    return closer === 0n ? a.index - b.index : closer < 0n ? -1 : 1
  }

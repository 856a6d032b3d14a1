import type { Operation } from '@market/contract/define'
import type { Answer } from './call.ts'

interface Presented {
  readonly data: unknown
  readonly isLater?: boolean
}

/** The envelope of a success. Parsing by the contract's own schema is what keeps unlisted fields inside. */
export function answerOf(operation: Operation, presented: Presented): Answer {
  const { data, isLater = false, ...beside } = presented
  return {
    status: (isLater ? operation.laterStatus : undefined) ?? operation.status ?? 200,
    body: { success: true, data: operation.output.parse(data), ...operation.beside?.parse(beside) },
    headers: {},
  }
}

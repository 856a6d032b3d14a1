import type { Operation } from '@market/contract/define'
import type { Answer } from './call.ts'

/** The envelope of a success. Parsing by the contract's own schema is what keeps unlisted fields inside. */
export function answerOf(operation: Operation, presented: { readonly data: unknown }): Answer {
  const { data, ...beside } = presented
  return {
    status: operation.status ?? 200,
    body: { success: true, data: operation.output.parse(data), ...operation.beside?.parse(beside) },
    headers: {},
  }
}

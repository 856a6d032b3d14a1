import type { Settlement, SettlementOutcome } from '@market/core/ports/facilitator'
import { ApiError } from '@market/kernel/api-error'
import { signature } from '@solana/kit'
import type { SolanaNode, SolanaNodes } from './nodes.ts'
import { observePayout } from './observe-payout.ts'

const isConfirmedBy = async ({ rpc }: SolanaNode, reference: string): Promise<boolean> => {
  try {
    const config = { searchTransactionHistory: true }
    const { value } = await rpc.getSignatureStatuses([signature(reference)], config).send()
    const [status] = value
    return status?.err === null && status.confirmationStatus !== 'processed'
  } catch (failure) {
    // Unreachable nodes are ignored.
    if (failure instanceof ApiError) return false
    throw failure
  }
}

/**
 * The outcome of a payment. Only this application can send it, because it needs the gas account's signature. It is void
 * when it failed in a final block, or when it expired according to final blocks.
 */
export const observeSettlement = async (
  nodes: SolanaNodes,
  settlement: Pick<Settlement, 'reference' | 'lastValidHeight'>,
): Promise<SettlementOutcome> => {
  const { reference } = settlement
  // A lagging node may not have a new payment yet, so all nodes are queried.
  const seen = await Promise.all(nodes.each.map((node) => isConfirmedBy(node, reference)))
  if (seen.includes(true)) return { kind: 'arrived', reference }

  // A settlement moves a buyer's money in, so one provider is enough here.
  const outcome = await observePayout(nodes, [settlement], 1)
  switch (outcome.kind) {
    case 'final':
      return { kind: 'arrived', reference }
    case 'failed':
      return { kind: 'void', reason: `the transaction failed: ${outcome.reason}` }
    case 'expired':
      return { kind: 'void', reason: 'the transaction expired' }
    default:
      return { kind: 'unknown' }
  }
}

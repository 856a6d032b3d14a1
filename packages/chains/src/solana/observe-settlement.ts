import type { Settlement, SettlementOutcome } from '@market/core/ports/facilitator'
import { ApiError } from '@market/kernel/api-error'
import { signature } from '@solana/kit'
import type { SolanaNode, SolanaNodes } from './nodes.ts'
import { observePayout } from './observe-payout.ts'

const isThere = async ({ rpc }: SolanaNode, reference: string): Promise<boolean> => {
  try {
    const config = { searchTransactionHistory: true }
    const { value } = await rpc.getSignatureStatuses([signature(reference)], config).send()
    const [status] = value
    return status?.err === null && status.confirmationStatus !== 'processed'
  } catch (failure) {
    // A node that is away has no say.
    if (failure instanceof ApiError) return false
    throw failure
  }
}

/**
 * What became of a payment. Nobody else can bring it to the chain: without the gas account's signature it is nothing. So
 * it is void when it failed, or when no block can take it any more, both of which only final blocks tell.
 */
export const observeSettlement = async (
  nodes: SolanaNodes,
  settlement: Settlement,
): Promise<SettlementOutcome> => {
  const { reference } = settlement
  // A node that lags has not heard of a fresh payment, so all of them are asked.
  const seen = await Promise.all(nodes.each.map((node) => isThere(node, reference)))
  if (seen.includes(true)) return { kind: 'arrived', reference }

  const outcome = await observePayout(nodes, [settlement])
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

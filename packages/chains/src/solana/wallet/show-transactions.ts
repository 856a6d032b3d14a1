import type { ShownTransaction, WalletReader } from '@market/core/ports/agent-wallets'
import { signature } from '@solana/kit'
import { parseSignature } from '../find-transfer.ts'
import type { SolanaNodes, SolanaRpc } from '../nodes.ts'
import { readHeights } from '../read-heights.ts'

type Shown = Awaited<ReturnType<WalletReader['showTransactions']>>

const statusesVia = async (
  rpc: SolanaRpc,
  references: readonly string[],
): Promise<readonly ShownTransaction[]> => {
  const known = references.filter((one) => parseSignature(one) !== undefined).map((one) => signature(one))
  const { value } = await rpc.getSignatureStatuses(known, { searchTransactionHistory: true }).send()
  return known.map((reference, index) => {
    const status = value[index] ?? null
    if (status === null) return { reference, status: 'not_found' }
    if (status.confirmationStatus !== 'finalized') return { reference, status: 'not_final' }
    return { reference, status: status.err === null ? 'final' : 'failed' }
  })
}

/** As the first node that responds shows them. Operators decide by it, and the worker reads enough providers again. */
export const showTransactions = async (
  nodes: SolanaNodes,
  references: readonly string[],
  minProviders: number,
): Promise<Shown> => {
  const { final } = await readHeights(nodes, minProviders)
  return {
    finalHeight: final,
    transactions: references.length === 0 ? [] : await statusesVia(nodes.rpc, references),
  }
}

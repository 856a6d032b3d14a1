import type { Income, WalletReader } from '@market/core/ports/agent-wallets'
import { unavailable } from '@market/kernel/api-error'
import { address } from '@solana/kit'
import { askEnough, type SolanaNodes, type SolanaRpc } from '../nodes.ts'
import { accountsOf, fetchFinal } from './final-transaction.ts'

type Query = Parameters<WalletReader['readIncome']>[0]

/** The income according to one node. A wallet that the transaction does not name gets nothing. */
const readVia = async (rpc: SolanaRpc, { reference, wallet }: Query): Promise<Income> => {
  const found = await fetchFinal(rpc, reference)
  if (typeof found === 'string') return { kind: found }
  const { transaction, meta } = found
  const index = accountsOf(transaction.message, meta).indexOf(address(wallet))
  const [before, after] = [meta.preBalances[index] ?? 0n, meta.postBalances[index] ?? 0n]
  return { kind: 'final', lamports: after - before }
}

/** Of providers that disagree, one that has more of the transaction is further than the others. */
const FURTHEST_FIRST = ['failed', 'not_final', 'not_found'] as const

/** Income is final when as many providers as required say so, and none says another amount. */
export const readIncome = async (nodes: SolanaNodes, query: Query, minProviders: number): Promise<Income> => {
  const { responses, failures } = await askEnough(nodes, minProviders, (rpc) => readVia(rpc, query))
  if (responses.length < minProviders)
    throw unavailable('Solana cannot be reached. Try again later.', new AggregateError(failures))
  const found = responses.map(({ response }) => response)
  const final = found.filter((income) => income.kind === 'final')
  const [first] = final
  if (first !== undefined) {
    const isAgreed =
      final.length >= minProviders && final.every(({ lamports }) => lamports === first.lamports)
    return isAgreed ? first : { kind: 'not_final' }
  }
  const kind = FURTHEST_FIRST.find((one) => found.some((income) => income.kind === one))
  return { kind: kind ?? 'not_found' }
}

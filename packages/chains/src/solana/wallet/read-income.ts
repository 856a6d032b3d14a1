import { isDeepStrictEqual } from 'node:util'
import type { Income, WalletReader } from '@market/core/ports/agent-wallets'
import { unavailable } from '@market/kernel/api-error'
import { SYSTEM_PROGRAM_ADDRESS, TRANSFER_SOL_DISCRIMINATOR } from '@solana-program/system'
import { askEnough, type SolanaNodes, type SolanaRpc } from '../nodes.ts'
import { MEMO_PROGRAM } from '../sign-payout.ts'
import { accountsOf, type ExecutedInstruction, fetchFinal, instructionsOf } from './final-transaction.ts'

type Query = Parameters<WalletReader['readIncome']>[0]

/** The lamports that a transfer of the System program moves from one wallet to another. */
const movedBy = ({ program, accounts, data }: ExecutedInstruction, from: string, to: string): bigint => {
  const isTransfer =
    program === SYSTEM_PROGRAM_ADDRESS &&
    data.length === TRANSFER_BYTES &&
    data.readUInt32LE() === TRANSFER_SOL_DISCRIMINATOR
  return isTransfer && accounts[0] === from && accounts[1] === to ? data.readBigUInt64LE(4) : 0n
}

/** The discriminator and the amount. */
const TRANSFER_BYTES = 4 + 8

const isMemoOf = ({ program, data }: ExecutedInstruction, text: string): boolean =>
  program === MEMO_PROGRAM && data.toString() === text

/** The income according to one node. A wallet that the transaction does not name gets nothing. */
const readVia = async (rpc: SolanaRpc, { reference, wallet, payer, mint }: Query): Promise<Income> => {
  const found = await fetchFinal(rpc, reference)
  if (typeof found === 'string') return { kind: found }
  const { transaction, meta } = found
  const accounts: readonly string[] = accountsOf(transaction.message, meta)
  const instructions = instructionsOf(transaction, meta)
  const index = accounts.indexOf(wallet)
  const [before, after] = [meta.preBalances[index] ?? 0n, meta.postBalances[index] ?? 0n]
  return {
    kind: 'final',
    lamports: after - before,
    paid: payer === undefined ? 0n : instructions.reduce((sum, one) => sum + movedBy(one, payer, wallet), 0n),
    namesMint:
      mint !== undefined && (accounts.includes(mint) || instructions.some((one) => isMemoOf(one, mint))),
  }
}

/** Of providers that disagree, one that has more of the transaction is further than the others. */
const FURTHEST_FIRST = ['failed', 'not_final', 'not_found'] as const

/** Income is final when as many providers as required say so, and none says something else of it. */
export const readIncome = async (nodes: SolanaNodes, query: Query, minProviders: number): Promise<Income> => {
  const { responses, failures } = await askEnough(nodes, minProviders, (rpc) => readVia(rpc, query))
  if (responses.length < minProviders)
    throw unavailable('Solana cannot be reached. Try again later.', new AggregateError(failures))
  const found = responses.map(({ response }) => response)
  const final = found.filter((income) => income.kind === 'final')
  const [first] = final
  if (first !== undefined) {
    const isAgreed = final.length >= minProviders && final.every((one) => isDeepStrictEqual(one, first))
    return isAgreed ? first : { kind: 'not_final' }
  }
  const kind = FURTHEST_FIRST.find((one) => found.some((income) => income.kind === one))
  return { kind: kind ?? 'not_found' }
}

import type { Hex } from 'viem'
import { failureReason, isContractFailure } from '../contract-failure.ts'
import { bytes, quantity, word } from '../parse-rpc.ts'
import { callEach, isRecord, type RpcError, type RpcResponse, resultOf } from '../rpc.ts'
import { askBalance, type CallRequest, callAt, type VaultAt } from './vault-calls.ts'

/** What one call of a simulation did. */
export type Simulated =
  | { readonly kind: 'returned'; readonly data: Hex }
  | { readonly kind: 'reverted'; readonly reason: string }

/** With these errors nodes say that they have no `eth_simulateV1`. Nitro has it, but it crashes. */
const NO_SIMULATION =
  /not found|not supported|unsupported|not available|does not exist|unknown method|crashed/i
const METHOD_NOT_FOUND = -32_601

const hasNoSimulation = ({ code, message }: RpcError): boolean =>
  code === METHOD_NOT_FOUND || NO_SIMULATION.test(message)

const readSimulated = (call: unknown): Simulated => {
  if (!isRecord(call)) throw new Error('the node returned an invalid simulation')
  const data = bytes(call['returnData'])
  if (quantity(call['status']) === 1n) return { kind: 'returned', data }
  const message = isRecord(call['error']) ? String(call['error']['message']) : 'execution reverted'
  return { kind: 'reverted', reason: failureReason({ code: 0, message, data }) }
}

const readSimulation = (response: RpcResponse, length: number): readonly Simulated[] | undefined => {
  if ('error' in response && hasNoSimulation(response.error)) return undefined
  const blocks = resultOf(response)
  const [block] = Array.isArray(blocks) ? (blocks as unknown[]) : []
  const calls = isRecord(block) ? block['calls'] : undefined
  if (!Array.isArray(calls) || calls.length !== length)
    throw new Error('the node returned an invalid simulation')
  return calls.map(readSimulated)
}

/**
 * Runs each sequence of calls after the block, without a transaction. Later calls of a sequence see what earlier ones changed. Undefined
 * where the node cannot do that.
 */
export const simulate = async (
  { node, chainId, block }: VaultAt,
  sequences: readonly (readonly CallRequest[])[],
): Promise<readonly (readonly Simulated[] | undefined)[]> => {
  const responses = await callEach(
    node,
    chainId,
    sequences.map((calls) => ['eth_simulateV1', { blockStateCalls: [{ calls }] }, block]),
  )
  return responses.map((response, index) => readSimulation(response, sequences[index]?.length ?? 0))
}

/** The result of `eth_call`. An error of the node itself throws. */
export const readCalled = (response: RpcResponse | undefined): Simulated => {
  if (response !== undefined && 'error' in response && isContractFailure(response.error))
    return { kind: 'reverted', reason: failureReason(response.error) }
  return { kind: 'returned', data: bytes(resultOf(response)) }
}

/** How much USDC each call of the vault brings into the treasury, or undefined when it reverts. */
export const simulatePayments = async (
  at: VaultAt,
  paying: readonly CallRequest[],
): Promise<readonly (bigint | undefined)[]> => {
  const held = askBalance(at.usdc, at.treasury)
  const simulations = await simulate(
    at,
    paying.map((call) => [held, call, held]),
  )
  const arrived = simulations.map((calls) => calls && arrivedIn(calls))
  if (!arrived.includes(undefined)) return arrived.map((one) => one?.amount)
  // Without a simulation of several calls only what the vault itself says is known. Its receipts are still checked.
  const responses = await callEach(
    at.node,
    at.chainId,
    paying.map((call) => callAt(call, at.block)),
  )
  return responses.map((response) => {
    const called = readCalled(response)
    return called.kind === 'reverted' ? undefined : word(called.data)
  })
}

const arrivedIn = ([before, paid, after]: readonly Simulated[]): { readonly amount: bigint | undefined } => {
  if (before?.kind !== 'returned' || after?.kind !== 'returned')
    throw new Error('the node could not read the balance of the treasury')
  const amount = paid?.kind === 'returned' ? word(after.data) - word(before.data) : undefined
  return { amount }
}

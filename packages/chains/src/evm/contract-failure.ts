import { decodeErrorResult, isHex, parseAbi } from 'viem'
import type { RpcError } from './rpc.ts'

/** Error messages with which nodes report that the contract failed, not the node. */
const CONTRACT_FAILED =
  /revert|out of gas|gas required exceeds|evm error|vm execution error|invalid opcode|invalid jump|stack (?:under|over)flow|stack limit/i
const EXECUTION_REVERTED = 3

export const isContractFailure = ({ code, message }: Pick<RpcError, 'code' | 'message'>): boolean =>
  code === EXECUTION_REVERTED || CONTRACT_FAILED.test(message)

const REASON = parseAbi(['error Error(string)'])

const LONGEST_REASON = 200

/** A contract can write anything: no database takes a zero byte, and nobody reads a book. */
const shorten = (text: string): string => text.replaceAll(/\p{Cc}/gu, ' ').slice(0, LONGEST_REASON)

/** The contract's revert reason, or the node's message when there is none. */
export const failureReason = ({ message, data }: RpcError): string => {
  if (isHex(data)) {
    try {
      return shorten(decodeErrorResult({ abi: REASON, data }).args[0])
    } catch {
      // A custom error or a panic: use the node's message.
    }
  }
  return shorten(message)
}

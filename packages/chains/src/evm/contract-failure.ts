import { decodeErrorResult, isHex, parseAbi } from 'viem'
import type { RpcError } from './rpc.ts'

/** Error messages with which nodes report that the contract failed, not the node. */
const CONTRACT_FAILED =
  /revert|out of gas|gas required exceeds|evm error|vm execution error|invalid opcode|invalid jump|stack (?:under|over)flow|stack limit/i
const EXECUTION_REVERTED = 3

export const isContractFailure = ({ code, message }: Pick<RpcError, 'code' | 'message'>): boolean =>
  code === EXECUTION_REVERTED || CONTRACT_FAILED.test(message)

const REASON = parseAbi(['error Error(string)'])

/** The contract's revert reason, or the node's message when there is none. */
export const failureReason = ({ message, data }: RpcError): string => {
  if (isHex(data)) {
    try {
      return decodeErrorResult({ abi: REASON, data }).args[0]
    } catch {
      // A custom error or a panic: use the node's message.
    }
  }
  return message.slice(0, 200)
}

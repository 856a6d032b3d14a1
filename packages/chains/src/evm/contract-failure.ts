import { decodeErrorResult, type Hex, isHex, parseAbi } from 'viem'
import type { RpcError } from './rpc.ts'

/** Error messages with which nodes report that the contract failed, not the node. */
const CONTRACT_FAILED =
  /revert|out of gas|gas required exceeds|evm error|vm execution error|invalid opcode|invalid jump|stack (?:under|over)flow|stack limit/i
const EXECUTION_REVERTED = 3

export const isContractFailure = ({ code, message }: Pick<RpcError, 'code' | 'message'>): boolean =>
  code === EXECUTION_REVERTED || CONTRACT_FAILED.test(message)

const REASON = parseAbi(['error Error(string)'])

/** Errors of tokens that do not write a reason. */
const TOKEN_ERRORS = parseAbi([
  'error Error(string)',
  'error Panic(uint256)',
  'error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)',
  'error ERC20InvalidReceiver(address receiver)',
  'error ERC3009InvalidSignature()',
  'error ERC3009InvalidAuthorizationTime(uint256 validAfter, uint256 validBefore)',
  'error ERC3009UsedAuthorization(address authorizer, bytes32 nonce)',
])

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

/** Why a call in a batch failed: the reason, or the name of the error with its arguments. */
export const revertReason = (data: Hex): string => {
  try {
    const { errorName, args } = decodeErrorResult({ abi: TOKEN_ERRORS, data })
    return shorten(errorName === 'Error' ? args[0] : `${errorName}(${args.join(', ')})`)
  } catch {
    return data === '0x' ? 'reverted without a reason' : shorten(`reverted with ${data}`)
  }
}

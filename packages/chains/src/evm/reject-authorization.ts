import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import type { Authorization } from './authorization.ts'
import { authorizationCall, digestOf, isSignedByKey, type TokenDomain } from './authorization-call.ts'
import { isContractFailure } from './contract-failure.ts'
import { bytes, word } from './read-answer.ts'
import { type Answer, type Call, callEach, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'

/** In x402's own words, which its clients know. */
const REASONS = {
  recipient: 'invalid_exact_evm_recipient_mismatch',
  value: 'invalid_exact_evm_payload_authorization_value_mismatch',
  before: 'invalid_exact_evm_payload_authorization_valid_before',
  after: 'invalid_exact_evm_payload_authorization_valid_after',
  signature: 'invalid_exact_evm_signature',
  undeployed: 'invalid_exact_evm_payload_undeployed_smart_wallet',
  used: 'invalid_exact_evm_nonce_already_used',
  balance: 'invalid_exact_evm_insufficient_balance',
  simulation: 'invalid_exact_evm_transaction_simulation_failed',
} as const

/** What is left must do for a block or two. */
const LEAST_SECONDS_LEFT = 6n
/** A payment that could be used for ever could never be given up. */
const MOST_SECONDS_AHEAD = 3_600n

const TOKEN = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const WALLET = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const WALLET_SAYS_YES = `0x1626ba7e${'0'.repeat(56)}`
const WALLET_GAS = '0x493e0'

/** What the payment itself tells, without asking anybody. */
export const rejectTerms = (
  settings: EvmSettings,
  { to, value, validAfter, validBefore }: Authorization,
  amount: bigint,
  now: Date,
): string | undefined => {
  const second = BigInt(Math.floor(now.getTime() / 1_000))
  if (addressKey(to) !== addressKey(settings.treasury)) return REASONS.recipient
  if (value !== amount) return REASONS.value
  if (validBefore < second + LEAST_SECONDS_LEFT) return REASONS.before
  if (validBefore > second + MOST_SECONDS_AHEAD) return REASONS.before
  return validAfter > second ? REASONS.after : undefined
}

export const usedCall = (usdc: string, { from, nonce }: Authorization, at: string): Call => {
  const data = encodeFunctionData({ abi: TOKEN, functionName: 'authorizationState', args: [from, nonce] })
  return ['eth_call', { to: usdc, data }, at]
}

/** What the contract answered; undefined when it failed. Any other error is the node's trouble. */
const answerIn = (answer: Answer | undefined): Hex | undefined => {
  if (answer !== undefined && 'error' in answer && isContractFailure(answer.error)) return undefined
  return bytes(resultOf(answer))
}

/**
 * What one node's newest block tells. The signature is checked as the token does it: where there is code at the payer's
 * address the code decides, and nothing is deployed for anybody.
 */
export const rejectOnChain = async (
  { chainId, usdc }: EvmSettings,
  node: Node,
  domain: TokenDomain,
  gasAccount: string,
  authorization: Authorization,
): Promise<string | undefined> => {
  const { from, value, signature, isWrapped } = authorization
  const { data, gas } = await authorizationCall(domain, authorization)
  const balance = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [from] })
  const check = encodeFunctionData({
    abi: WALLET,
    functionName: 'isValidSignature',
    args: [digestOf(domain, authorization), signature],
  })
  const [code, verdict, used, held, attempt] = await callEach(node, chainId, [
    ['eth_getCode', from, 'latest'],
    ['eth_call', { from: usdc, to: from, data: check, gas: WALLET_GAS }, 'latest'],
    usedCall(usdc, authorization, 'latest'),
    ['eth_call', { to: usdc, data: balance }, 'latest'],
    ['eth_call', { from: gasAccount, to: usdc, data, gas: `0x${gas.toString(16)}` }, 'latest'],
  ])
  const hasCode = bytes(resultOf(code)) !== '0x'
  if (!hasCode && isWrapped) return REASONS.undeployed
  const isSigned = hasCode
    ? answerIn(verdict) === WALLET_SAYS_YES
    : await isSignedByKey(domain, authorization)
  if (!isSigned) return REASONS.signature
  if (word(resultOf(used)) !== 0n) return REASONS.used
  if (word(resultOf(held)) < value) return REASONS.balance
  return answerIn(attempt) === undefined ? REASONS.simulation : undefined
}

import { encodeFunctionData, erc20Abi, type Hex, parseAbi } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import type { Authorization } from './authorization.ts'
import { authorizationCall, digestOf, isSignedByKey, type TokenDomain } from './authorization-call.ts'
import { isContractFailure } from './contract-failure.ts'
import { bytes, word } from './parse-rpc.ts'
import { type Call, callEach, type RpcResponse, resultOf } from './rpc.ts'
import { addressKey, type EvmSettings } from './settings.ts'

/** Error codes defined by x402. */
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

/** Enough time for the transaction to be mined. */
const MIN_SECONDS_LEFT = 6n
/** An unlimited authorization could never be declared void. */
const MAX_SECONDS_AHEAD = 3_600n

const TOKEN = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])
const WALLET = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])
const ERC1271_VALID = `0x1626ba7e${'0'.repeat(56)}`
const WALLET_GAS = '0x493e0'

/** Checks that need no network access. */
export const rejectTerms = (
  settings: EvmSettings,
  { to, value, validAfter, validBefore }: Authorization,
  amount: bigint,
  now: Date,
): string | undefined => {
  const second = BigInt(Math.floor(now.getTime() / 1_000))
  if (addressKey(to) !== addressKey(settings.treasury)) return REASONS.recipient
  if (value !== amount) return REASONS.value
  if (validBefore < second + MIN_SECONDS_LEFT) return REASONS.before
  if (validBefore > second + MAX_SECONDS_AHEAD) return REASONS.before
  return validAfter > second ? REASONS.after : undefined
}

type NonceOf = Pick<Authorization, 'from' | 'nonce'>

/** Asks the token whether the authorization was used or cancelled. */
export const usedData = ({ from, nonce }: NonceOf): Hex =>
  encodeFunctionData({ abi: TOKEN, functionName: 'authorizationState', args: [from, nonce] })

export const usedCall = (usdc: string, authorization: NonceOf, at: string): Call => [
  'eth_call',
  { to: usdc, data: usedData(authorization) },
  at,
]

/** The contract's return data. Undefined when the contract failed; throws on any other error of the node. */
const returnData = (response: RpcResponse | undefined): Hex | undefined => {
  if (response !== undefined && 'error' in response && isContractFailure(response.error)) return undefined
  return bytes(resultOf(response))
}

/**
 * Checks against the newest block of one node. The signature is checked as the token does it: code at the payer's address
 * verifies it. Undeployed wallets are not supported.
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
  const [code, validity, used, payerBalance, attempt] = await callEach(node, chainId, [
    ['eth_getCode', from, 'latest'],
    ['eth_call', { from: usdc, to: from, data: check, gas: WALLET_GAS }, 'latest'],
    usedCall(usdc, authorization, 'latest'),
    ['eth_call', { to: usdc, data: balance }, 'latest'],
    ['eth_call', { from: gasAccount, to: usdc, data, gas: `0x${gas.toString(16)}` }, 'latest'],
  ])
  const hasCode = bytes(resultOf(code)) !== '0x'
  if (!hasCode && isWrapped) return REASONS.undeployed
  const isSigned = hasCode
    ? returnData(validity) === ERC1271_VALID
    : await isSignedByKey(domain, authorization)
  if (!isSigned) return REASONS.signature
  if (word(resultOf(used)) !== 0n) return REASONS.used
  if (word(resultOf(payerBalance)) < value) return REASONS.balance
  return returnData(attempt) === undefined ? REASONS.simulation : undefined
}

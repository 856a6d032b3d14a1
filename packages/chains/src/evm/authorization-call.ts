import { AUTHORIZATION_TYPES } from '@market/contract/authorization-types'
import {
  encodeFunctionData,
  type Hex,
  hashTypedData,
  isAddressEqual,
  parseAbi,
  parseSignature,
  recoverAddress,
  size,
} from 'viem'
import { isHighS } from '../signatures/verify-evm.ts'
import type { Authorization } from './authorization.ts'

/** EIP-712 domain of the token. It binds a signature to one token on one chain. */
export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: `0x${string}`
}

/** What the payer signs. */
export type AuthorizationTerms = Omit<Authorization, 'signature' | 'isWrapped'>

export const KEY_SIGNATURE_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])
const WALLET_SIGNATURE_ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** USDC uses about 90 000 gas for a key signature. */
const KEY_SIGNATURE_GAS = 150_000n
/** Upper limit for smart wallets, whose own code verifies the signature. */
const WALLET_SIGNATURE_GAS = 400_000n
export const MAX_GAS = WALLET_SIGNATURE_GAS

const KEY_SIGNATURE_BYTES = 65

export const digestOf = (domain: TokenDomain, terms: AuthorizationTerms): Hex => {
  const { from, to, value, validAfter, validBefore, nonce } = terms
  const message = { from, to, value, validAfter, validBefore, nonce }
  return hashTypedData({
    domain,
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message,
  })
}

/** Whether the payer's key signed. Any other signature must be verified by the smart wallet at the payer's address. */
export const isSignedByKey = async (domain: TokenDomain, authorization: Authorization): Promise<boolean> => {
  const { from, signature } = authorization
  // The token rejects signatures with high s.
  if (size(signature) !== KEY_SIGNATURE_BYTES || isHighS(signature)) return false
  try {
    return isAddressEqual(await recoverAddress({ hash: digestOf(domain, authorization), signature }), from)
  } catch {
    return false
  }
}

/** The token call that executes a payment that the payer's key signed. */
export const keySignedCall = (
  { from, to, value, validAfter, validBefore, nonce }: AuthorizationTerms,
  { r, s, yParity }: { readonly r: Hex; readonly s: Hex; readonly yParity: number },
): Hex =>
  encodeFunctionData({
    abi: KEY_SIGNATURE_ABI,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, 27 + yParity, r, s],
  })

/** The token call that executes the payment, and its gas limit. */
export const authorizationCall = async (
  domain: TokenDomain,
  authorization: Authorization,
): Promise<{ readonly data: Hex; readonly gas: bigint }> => {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization
  if (await isSignedByKey(domain, authorization))
    return { data: keySignedCall(authorization, parseSignature(signature)), gas: KEY_SIGNATURE_GAS }
  const args = [from, to, value, validAfter, validBefore, nonce, signature] as const
  const data = encodeFunctionData({
    abi: WALLET_SIGNATURE_ABI,
    functionName: 'transferWithAuthorization',
    args,
  })
  return { data, gas: WALLET_SIGNATURE_GAS }
}

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

/** As the token itself names it: what a signature says which token, on which chain, it is for (EIP-712). */
export interface TokenDomain {
  readonly name: string
  readonly version: string
  readonly chainId: number
  readonly verifyingContract: `0x${string}`
}

const TYPES = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const

const BY_KEY = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])
const BY_WALLET = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** USDC takes about 90 000 where the signature is a key's. */
const GAS_BY_KEY = 150_000n
/** A wallet checks its own signature, and one that burns more for it is not worth waiting for. */
const GAS_BY_WALLET = 400_000n
export const MOST_GAS = GAS_BY_WALLET

const KEY_SIGNATURE_BYTES = 65

export const digestOf = (domain: TokenDomain, authorization: Authorization): Hex => {
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const message = { from, to, value, validAfter, validBefore, nonce }
  return hashTypedData({ domain, types: TYPES, primaryType: 'TransferWithAuthorization', message })
}

/** Whether the payer's own key signed. Everything else is for the wallet at that address to say. */
export const isSignedByKey = async (domain: TokenDomain, authorization: Authorization): Promise<boolean> => {
  const { from, signature } = authorization
  // The token takes no mirror image of a right signature.
  if (size(signature) !== KEY_SIGNATURE_BYTES || isHighS(signature)) return false
  try {
    return isAddressEqual(await recoverAddress({ hash: digestOf(domain, authorization), signature }), from)
  } catch {
    return false
  }
}

/** The call of the token by which anybody brings the payment to the chain, and the gas it may take. */
export const authorizationCall = async (
  domain: TokenDomain,
  authorization: Authorization,
): Promise<{ readonly data: Hex; readonly gas: bigint }> => {
  const { from, to, value, validAfter, validBefore, nonce, signature } = authorization
  const signed = [from, to, value, validAfter, validBefore, nonce] as const
  const functionName = 'transferWithAuthorization'
  if (await isSignedByKey(domain, authorization)) {
    const { r, s, yParity } = parseSignature(signature)
    const data = encodeFunctionData({ abi: BY_KEY, functionName, args: [...signed, 27 + yParity, r, s] })
    return { data, gas: GAS_BY_KEY }
  }
  const data = encodeFunctionData({ abi: BY_WALLET, functionName, args: [...signed, signature] })
  return { data, gas: GAS_BY_WALLET }
}

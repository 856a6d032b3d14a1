import type { SignedPayment } from '@market/core/ports/facilitator'
import { type Address, type Hex, parseErc6492Signature } from 'viem'
import { isRecord } from './rpc.ts'
import { parseAddress } from './settings.ts'

/** An EIP-3009 authorization: a payment signed by the payer that any account can execute once. */
export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** In lower case. */
  readonly nonce: Hex
  /** The signature without its EIP-6492 wrapper. */
  readonly signature: Hex
  /** Whether it had an EIP-6492 wrapper, as signatures of undeployed wallets do. */
  readonly isWrapped: boolean
}

const MAX_SIGNATURE_BYTES = 4_096
const MAX_UINT256 = 2n ** 256n - 1n

const decimal = (value: unknown): bigint | undefined => {
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,77})$/.test(value)) return undefined
  const number = BigInt(value)
  return number <= MAX_UINT256 ? number : undefined
}

const address = (value: unknown): Address | undefined =>
  typeof value === 'string' ? parseAddress(value) : undefined

const bytes32 = (value: unknown): Hex | undefined =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? (value.toLowerCase() as Hex) : undefined

/** Checks the length first, so that the regular expression never runs on a long text. */
const hexBytes = (value: unknown): Hex | undefined => {
  if (typeof value !== 'string' || value.length > 2 + 2 * MAX_SIGNATURE_BYTES) return undefined
  return /^0x(?:[0-9a-fA-F]{2})+$/.test(value) ? (value.toLowerCase() as Hex) : undefined
}

/** Undefined when the EIP-6492 wrapper cannot be decoded. */
const unwrapSignature = (signature: Hex): Pick<Authorization, 'signature' | 'isWrapped'> | undefined => {
  try {
    const { address: factory, signature: inner } = parseErc6492Signature(signature)
    return { signature: inner, isWrapped: factory !== undefined }
  } catch {
    return undefined
  }
}

/** Parses the payload of an x402 payment with scheme "exact". Undefined when it has another shape. */
export const parseAuthorization = (payment: SignedPayment): Authorization | undefined => {
  const signed = payment['authorization']
  const bytes = hexBytes(payment['signature'])
  if (!isRecord(signed) || bytes === undefined) return undefined
  const [from, to, nonce] = [address(signed['from']), address(signed['to']), bytes32(signed['nonce'])]
  const value = decimal(signed['value'])
  const [validAfter, validBefore] = [decimal(signed['validAfter']), decimal(signed['validBefore'])]
  const signature = unwrapSignature(bytes)
  if (from === undefined || to === undefined || nonce === undefined || signature === undefined)
    return undefined
  if (value === undefined || validAfter === undefined || validBefore === undefined) return undefined
  return { from, to, value, validAfter, validBefore, nonce, ...signature }
}

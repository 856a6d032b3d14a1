import type { SignedPayment } from '@market/core/ports/facilitator'
import { type Address, type Hex, parseErc6492Signature } from 'viem'
import { isRecord } from './rpc.ts'
import { parseAddress } from './settings.ts'

/** A payment that its payer signed, and that anybody may bring to the chain once (EIP-3009). */
export interface Authorization {
  readonly from: Address
  readonly to: Address
  readonly value: bigint
  readonly validAfter: bigint
  readonly validBefore: bigint
  /** In lower case. */
  readonly nonce: Hex
  /** As the token takes it: without the way to deploy the wallet around it (EIP-6492). */
  readonly signature: Hex
  /** Whether that way was around it, as it is of wallets that are not deployed yet. */
  readonly isWrapped: boolean
}

const LONGEST_SIGNATURE_BYTES = 4_096
const MOST = 2n ** 256n - 1n

const decimal = (value: unknown): bigint | undefined => {
  if (typeof value !== 'string' || !/^(?:0|[1-9]\d{0,77})$/.test(value)) return undefined
  const number = BigInt(value)
  return number <= MOST ? number : undefined
}

const address = (value: unknown): Address | undefined =>
  typeof value === 'string' ? parseAddress(value) : undefined

const word = (value: unknown): Hex | undefined =>
  typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value) ? (value.toLowerCase() as Hex) : undefined

/** The length is looked at first, so that a long text is not scanned. */
const someBytes = (value: unknown): Hex | undefined => {
  if (typeof value !== 'string' || value.length > 2 + 2 * LONGEST_SIGNATURE_BYTES) return undefined
  return /^0x(?:[0-9a-fA-F]{2})+$/.test(value) ? (value.toLowerCase() as Hex) : undefined
}

/** Undefined where the wrapping is there but holds nothing that can be read. */
const unwrapped = (signature: Hex): Pick<Authorization, 'signature' | 'isWrapped'> | undefined => {
  try {
    const { address: factory, signature: inner } = parseErc6492Signature(signature)
    return { signature: inner, isWrapped: factory !== undefined }
  } catch {
    return undefined
  }
}

/** What the payload of an x402 payment authorizes, in the shape of scheme "exact"; undefined when it is none. */
export const readAuthorization = (payment: SignedPayment): Authorization | undefined => {
  const signed = payment['authorization']
  const bytes = someBytes(payment['signature'])
  if (!isRecord(signed) || bytes === undefined) return undefined
  const [from, to, nonce] = [address(signed['from']), address(signed['to']), word(signed['nonce'])]
  const value = decimal(signed['value'])
  const [validAfter, validBefore] = [decimal(signed['validAfter']), decimal(signed['validBefore'])]
  const signature = unwrapped(bytes)
  if (from === undefined || to === undefined || nonce === undefined || signature === undefined)
    return undefined
  if (value === undefined || validAfter === undefined || validBefore === undefined) return undefined
  return { from, to, value, validAfter, validBefore, nonce, ...signature }
}

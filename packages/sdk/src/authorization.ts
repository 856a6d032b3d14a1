import { AUTHORIZATION_TYPES } from '@market/contract/authorization-types'
import type { PaymentRequirement } from './payment.ts'

/** Clocks differ, so a payment counts from ten minutes ago on. */
const CLOCK_SLACK_SECONDS = 600

const NONCE_BYTES = 32

interface AuthorizationTerms {
  readonly from: string
  readonly to: string
  readonly value: string
  readonly validAfter: string
  readonly validBefore: string
  readonly nonce: string
}

/** EIP-712 data of an EIP-3009 authorization, as viem and `eth_signTypedData_v4` take it. */
export interface AuthorizationData {
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: string
  }
  readonly types: typeof AUTHORIZATION_TYPES
  readonly primaryType: 'TransferWithAuthorization'
  readonly message: AuthorizationTerms
}

/** Has an authorization of exactly the amount of the requirement signed. Any account can execute it once. */
export async function signAuthorization(
  from: string,
  { network, asset, amount, payTo, maxTimeoutSeconds, extra }: PaymentRequirement,
  signTypedData: (data: AuthorizationData) => Promise<string>,
): Promise<Readonly<Record<string, unknown>>> {
  const { name, version } = extra
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new TypeError('extra of the payment has no name and version of the token. Nothing was signed.')
  const now = Math.floor(Date.now() / 1_000)
  const authorization: AuthorizationTerms = {
    from,
    to: payTo,
    value: amount,
    validAfter: String(now - CLOCK_SLACK_SECONDS),
    validBefore: String(now + maxTimeoutSeconds),
    nonce: hexOf(crypto.getRandomValues(new Uint8Array(NONCE_BYTES))),
  }
  const signature = await signTypedData({
    domain: { name, version, chainId: Number(network.slice('eip155:'.length)), verifyingContract: asset },
    types: AUTHORIZATION_TYPES,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return { signature, authorization }
}

export const hexOf = (bytes: Uint8Array): string =>
  `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`

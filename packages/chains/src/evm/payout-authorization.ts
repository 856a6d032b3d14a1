import type { PayoutRequest, SignedPayout } from '@market/core/ports/payout-sender'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { decodeFunctionData, type Hex, isHex } from 'viem'
import {
  type AuthorizationTerms,
  digestOf,
  KEY_SIGNATURE_ABI,
  keySignedCall,
  type TokenDomain,
} from './authorization-call.ts'
import { parseAddress } from './settings.ts'
import { signHash } from './sign-hash.ts'

/** How long an authorization is valid, in seconds of block time. A payout that nobody sends can be changed after it. */
export const VALID_SECONDS = 30n * 60n

interface PayoutToAuthorize {
  readonly treasury: string
  readonly payout: PayoutRequest
  /** The time of the first block in which it is not valid any more. */
  readonly validBefore: bigint
}

/** The nonce is the payout's mark, so the token pays it at most once, however often it is signed. */
export const termsOf = ({ treasury, payout, validBefore }: PayoutToAuthorize): AuthorizationTerms => {
  const [from, to, nonce] = [parseAddress(treasury), parseAddress(payout.to), payout.mark]
  assert(from !== undefined, `${treasury} is not an EVM address`)
  assert(to !== undefined, `${payout.to} is not an EVM address`)
  assert(payout.amount > 0n, 'the payout amount is positive')
  assert(isHex(nonce) && nonce.length === 66, `${nonce} is not a nonce`)
  return { from, to, value: payout.amount, validAfter: 0n, validBefore, nonce }
}

/** The treasury's authorization of a payout. Any account can execute it. */
export const authorizePayout = async (
  domain: TokenDomain,
  signer: EvmKeySigner,
  payout: PayoutToAuthorize,
): Promise<SignedPayout> => {
  const terms = termsOf(payout)
  const reference = digestOf(domain, terms)
  const bytes = keySignedCall(terms, await signHash(signer, reference))
  return { reference, bytes, validTo: terms.validBefore - 1n }
}

/** The terms in the bytes of a signed payout. */
export const readAuthorization = ({ bytes }: Pick<SignedPayout, 'bytes'>): AuthorizationTerms => {
  const { args } = decodeFunctionData({ abi: KEY_SIGNATURE_ABI, data: bytes as Hex })
  const [from, to, value, validAfter, validBefore, nonce] = args
  return { from, to, value, validAfter, validBefore, nonce }
}

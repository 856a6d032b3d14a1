import type { PaymentHeaders } from '@market/contract/client'
import { ApiError } from '@market/kernel/api-error'
import { NETWORKS, type Network } from '@market/kernel/network'
import { inferNetwork } from '@market/money/payments'
import type { PaymentCredential } from '@market/trade/x402'

const MAX_LENGTH = 12_000
const EVM_HASH = /^0x[0-9a-fA-F]{64}$/
const SOLANA_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/
const PAYMENT_ID = /^[A-Za-z0-9_-]{16,128}$/

/** Parses the three forms of payment; undefined without one. */
export function readPaymentCredential({
  signature,
  payment,
  network,
}: PaymentHeaders): PaymentCredential | undefined {
  if (signature !== undefined && payment !== undefined)
    throw malformed('Send one payment: either PAYMENT-SIGNATURE or X-PAYMENT')
  if (signature !== undefined) return signedIn(signature, 2)
  if (payment === undefined) return undefined
  if (!EVM_HASH.test(payment) && !SOLANA_SIGNATURE.test(payment)) return signedIn(payment, 1)
  return sentOn(payment, networkOf(network))
}

function networkOf(name: string | undefined): Network | undefined {
  if (name === undefined) return undefined
  const known = NETWORKS.find((one) => one === name)
  if (known === undefined) throw malformed(`X-Payment-Network must be one of ${NETWORKS.join(', ')}`)
  return known
}

function sentOn(reference: string, named: Network | undefined): PaymentCredential {
  const network = named ?? inferNetwork(reference)
  if (EVM_HASH.test(reference) === (network === 'solana-mainnet'))
    throw malformed(`X-PAYMENT is not a transaction hash on ${network}. Check X-Payment-Network.`)
  return { kind: 'transaction', network, isNetworkInferred: named === undefined, reference }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function signedIn(header: string, version: 1 | 2): PaymentCredential {
  const decoded = decodeBase64(header)
  if (decoded === undefined || decoded['x402Version'] !== version || !isRecord(decoded['payload']))
    throw malformed(
      'The payment cannot be parsed. Send a transaction hash as X-PAYMENT or an x402 version 2 payment as PAYMENT-SIGNATURE.',
    )
  const accepted =
    version === 2 ? decoded['accepted'] : { scheme: decoded['scheme'], network: decoded['network'] }
  if (!isRecord(accepted) || typeof accepted['network'] !== 'string')
    throw malformed('The payment does not name the requirement that it meets')
  const network = accepted['network']
  return { kind: 'signed', version, network, accepted, payment: decoded['payload'], paymentId: idIn(decoded) }
}

function decodeBase64(header: string): Readonly<Record<string, unknown>> | undefined {
  if (header.length > MAX_LENGTH || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(header)) return undefined
  try {
    const decoded: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return isRecord(decoded) ? decoded : undefined
  } catch {
    return undefined
  }
}

/** The identifier that a client gave to its payment, so that it can repeat the request. */
function idIn(decoded: Readonly<Record<string, unknown>>): string | undefined {
  const extensions = decoded['extensions']
  const extension = isRecord(extensions) ? extensions['payment-identifier'] : undefined
  const info = isRecord(extension) ? extension['info'] : undefined
  const id = isRecord(info) ? info['id'] : undefined
  if (id === undefined) return undefined
  if (typeof id !== 'string' || !PAYMENT_ID.test(id))
    throw malformed('The payment identifier must be 16 to 128 characters of A-Z, a-z, 0-9, _ and -')
  return id
}

const malformed = (message: string): ApiError =>
  new ApiError('invalid', message, { code: 'malformed_payment' })

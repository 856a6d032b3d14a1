import { ApiError } from '@market/kernel/api-error'
import { NETWORKS, type Network } from '@market/kernel/network'
import type { PaymentCredential } from '@market/trade/x402'

/** The headers that may carry a payment, as they came. */
export interface PaymentHeaders {
  /** `PAYMENT-SIGNATURE`: version 2 of the protocol. */
  readonly signature?: string | undefined
  /** `X-PAYMENT`: the spec's own proof, or version 1 of the protocol. */
  readonly payment?: string | undefined
  /** `X-Payment-Network` */
  readonly network?: string | undefined
}

const MOST_LETTERS = 12_000
const EVM_HASH = /^0x[0-9a-fA-F]{64}$/
const SOLANA_SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{86,88}$/
const PAYMENT_ID = /^[A-Za-z0-9_-]{16,128}$/

/** Tells the three forms of payment apart; undefined when there is none. */
export function readPaymentCredential({
  signature,
  payment,
  network,
}: PaymentHeaders): PaymentCredential | undefined {
  if (signature !== undefined && payment !== undefined)
    throw malformed('Send one payment: either PAYMENT-SIGNATURE or X-PAYMENT')
  if (signature !== undefined) return signedIn(signature, 2)
  if (payment === undefined) return undefined
  if (EVM_HASH.test(payment)) return sentOn(payment, networkOf(network) ?? 'base-mainnet')
  if (SOLANA_SIGNATURE.test(payment)) return sentOn(payment, networkOf(network) ?? 'solana-mainnet')
  return signedIn(payment, 1)
}

function networkOf(name: string | undefined): Network | undefined {
  if (name === undefined) return undefined
  const known = NETWORKS.find((one) => one === name)
  if (known === undefined) throw malformed(`X-Payment-Network must be one of ${NETWORKS.join(', ')}`)
  return known
}

function sentOn(reference: string, network: Network): PaymentCredential {
  if (EVM_HASH.test(reference) === (network === 'solana-mainnet'))
    throw malformed(`X-PAYMENT is no transaction of ${network}`)
  return { kind: 'transaction', network, reference }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function signedIn(header: string, version: 1 | 2): PaymentCredential {
  const said = decode(header)
  if (said === undefined || said['x402Version'] !== version || !isRecord(said['payload']))
    throw malformed(
      'The payment cannot be read: X-PAYMENT is a transaction hash or signature, PAYMENT-SIGNATURE the payment of a version 2 client',
    )
  const accepted = version === 2 ? said['accepted'] : { scheme: said['scheme'], network: said['network'] }
  if (!isRecord(accepted) || typeof accepted['network'] !== 'string')
    throw malformed('The payment does not say which requirement it meets')
  const network = accepted['network']
  return { kind: 'signed', version, network, accepted, payment: said['payload'], paymentId: idIn(said) }
}

function decode(header: string): Readonly<Record<string, unknown>> | undefined {
  if (header.length > MOST_LETTERS || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(header)) return undefined
  try {
    const said: unknown = JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
    return isRecord(said) ? said : undefined
  } catch {
    return undefined
  }
}

/** The extension by which a client names its payment, so that it can ask again. */
function idIn(said: Readonly<Record<string, unknown>>): string | undefined {
  const extensions = said['extensions']
  const extension = isRecord(extensions) ? extensions['payment-identifier'] : undefined
  const info = isRecord(extension) ? extension['info'] : undefined
  const id = isRecord(info) ? info['id'] : undefined
  if (id === undefined) return undefined
  if (typeof id !== 'string' || !PAYMENT_ID.test(id))
    throw malformed('The payment’s identifier has 16 to 128 letters')
  return id
}

const malformed = (message: string): ApiError =>
  new ApiError('invalid', message, { code: 'malformed_payment' })

import { MarketError } from './errors.ts'
import type { Payer } from './payers.ts'
import type { PaymentNetwork, PaymentRequirement } from './payment.ts'
import { usdOf } from './usdc.ts'

/** What the API offers, in the form of x402 version 2, with our names of the networks. */
export interface Quote {
  readonly accepts: readonly PaymentRequirement[]
  readonly resource: unknown
  readonly networkOf: (requirement: PaymentRequirement) => string | undefined
}

interface NamedEntry {
  readonly network?: unknown
  readonly payTo?: unknown
  readonly asset?: { readonly address?: unknown }
}

/** The CAIP-2 id of each network, so that the API cannot have a payment on another chain signed. A deployment chooses its `alt-mainnet`. */
const CHAINS: Readonly<Record<PaymentNetwork, RegExp>> = {
  'base-mainnet': /^eip155:8453$/,
  'alt-mainnet': /^eip155:(?!8453$)\d+$/,
  'solana-mainnet': /^solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp$/,
}

/** Reads the quote of a 402 response. */
export function readQuote({ headers, body }: MarketError): Quote {
  const required = decode(headers?.get('payment-required') ?? '')
  const { accepts, resource } = (required ?? {}) as { accepts?: unknown; resource?: unknown }
  if (!Array.isArray(accepts))
    throw new MarketError('The API sent no PAYMENT-REQUIRED of x402 version 2. Check apiUrl.', {
      status: 402,
      code: 'bad_response',
    })
  const named = ((body as { accepts?: readonly NamedEntry[] }).accepts ?? []) as readonly NamedEntry[]
  return {
    accepts: accepts as readonly PaymentRequirement[],
    resource,
    networkOf: ({ payTo, asset }) => {
      const entry = named.find((one) => one.payTo === payTo && one.asset?.address === asset)
      return typeof entry?.network === 'string' ? entry.network : undefined
    },
  }
}

/** The requirement of one network, which costs at most `limit`. It is never replaced by one of another network. */
export function chooseRequirement(
  { accepts, networkOf }: Quote,
  payer: Payer,
  wanted: PaymentNetwork | undefined,
  limit: bigint,
): { readonly requirement: PaymentRequirement; readonly network: PaymentNetwork; readonly amount: bigint } {
  const network = wanted ?? payer.networks[0]
  if (!payer.networks.includes(network))
    throw new TypeError(`The payer pays on ${payer.networks.join(' and ')}, not on ${network}.`)
  const requirement = accepts.find((one) => one.scheme === 'exact' && networkOf(one) === network)
  if (requirement === undefined) {
    const others = [...new Set(accepts.map(networkOf))].join(', ') || 'no network'
    throw new MarketError(
      `The service cannot be paid on ${network} with a signed payment, only on ${others}. Pass network and a payer of it.`,
      { status: 402, code: 'network_not_accepted' },
    )
  }
  if (!CHAINS[network].test(requirement.network))
    throw new MarketError(
      `The API asks for a payment on ${requirement.network}, which is not ${network}. Nothing was signed. Check apiUrl.`,
      { status: 402, code: 'bad_response' },
    )
  const amount = /^\d{1,30}$/.test(requirement.amount) ? BigInt(requirement.amount) : undefined
  if (amount === undefined)
    throw new MarketError('The API asks for an amount that is not a number. Nothing was signed.', {
      status: 402,
      code: 'bad_response',
    })
  if (amount > limit)
    throw new MarketError(
      `The service costs ${usdOf(amount)} USD with the fee, maxUsd is ${usdOf(limit)}. Nothing was signed; raise maxUsd to hire it.`,
      { status: 402, code: 'price_above_max' },
    )
  return { requirement, network, amount }
}

/** The value of `PAYMENT-SIGNATURE`. */
export function encodePayment(
  { resource }: Quote,
  accepted: PaymentRequirement,
  payload: Readonly<Record<string, unknown>>,
): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ x402Version: 2, payload, resource, accepted }))
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}

function decode(header: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(header), (character) => character.charCodeAt(0))
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return undefined
  }
}

import { DISCOVERY_EXTENSION, REGISTRATION_EXTENSION } from './discovery-extension.ts'
import { type Quote, REGISTRATION, type Way } from './quote.ts'
import { oneLine } from './sanitise.ts'

/** How long a payment that is signed now may take until it is on the chain. */
const TIMEOUT_SECONDS = 300

/** The spec's own requirement, field by field. */
const plainOf = ({ due, description, path }: Quote, { network, chain }: Way, baseUrl: string) => ({
  version: '1',
  scheme: 'exact',
  network,
  asset: { currency: 'USDC', address: chain.usdc },
  payTo: chain.treasury,
  maxAmountRequired: due.toString(),
  description,
  resource: `${baseUrl}${path}`,
})

/** The body of every 402. */
export const plainBody = (quote: Quote, baseUrl: string, error?: string) => ({
  x402Version: 1,
  accepts: quote.ways.map((way) => plainOf(quote, way, baseUrl)),
  ...(error !== undefined && { error }),
})

export interface Requirement {
  readonly scheme: 'exact'
  readonly network: string
  readonly amount: string
  readonly asset: string
  readonly payTo: string
  readonly maxTimeoutSeconds: number
  readonly extra: Readonly<Record<string, unknown>>
}

/** What version 2 of the protocol asks for: only where somebody can bring the payment to the chain. */
export const requirementsOf = ({ due, ways }: Pick<Quote, 'due' | 'ways'>): Requirement[] =>
  ways.flatMap(({ chain, facilitator }) =>
    facilitator === undefined
      ? []
      : [
          {
            scheme: 'exact' as const,
            network: facilitator.caip2,
            amount: due.toString(),
            asset: chain.usdc,
            payTo: chain.treasury,
            maxTimeoutSeconds: TIMEOUT_SECONDS,
            extra: facilitator.extra,
          },
        ],
  )

/** A client of version 1 with an EVM account takes the first entry, whatever it is; one with Solana's looks for its own. */
const solanaLast = (a: Way, b: Way): number =>
  Number(a.network === 'solana-mainnet') - Number(b.network === 'solana-mainnet')

/** What version 1 asks for, on the networks it has a word for. */
export const firstVersionOf = (quote: Quote, resource: string) =>
  quote.ways.toSorted(solanaLast).flatMap(({ chain, facilitator }) =>
    facilitator?.v1 === undefined
      ? []
      : [
          {
            scheme: 'exact',
            network: facilitator.v1,
            maxAmountRequired: quote.due.toString(),
            resource,
            description: quote.description,
            mimeType: 'application/json',
            payTo: chain.treasury,
            maxTimeoutSeconds: TIMEOUT_SECONDS,
            asset: chain.usdc,
            extra: facilitator.extra,
          },
        ],
  )

/** A client may name its payment, so that it can ask again for what it bought. */
const PAYMENT_IDENTIFIER = {
  info: { required: false },
  schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      required: { type: 'boolean' },
      id: { type: 'string', minLength: 16, maxLength: 128, pattern: '^[a-zA-Z0-9_-]+$' },
    },
    required: ['required'],
  },
}

/** What a client of version 2 reads in the header of a 402. The same at every door, so that any quote serves at any. */
export const versionTwoOf = (quote: Quote, baseUrl: string, error = 'Payment required') => ({
  x402Version: 2,
  error,
  resource: {
    url: `${baseUrl}${quote.path}`,
    description: oneLine(quote.description),
    mimeType: 'application/json',
    serviceName: 'Agent Market',
  },
  accepts: requirementsOf(quote),
  extensions: {
    'payment-identifier': PAYMENT_IDENTIFIER,
    bazaar: quote.subject === REGISTRATION ? REGISTRATION_EXTENSION : DISCOVERY_EXTENSION,
  },
})

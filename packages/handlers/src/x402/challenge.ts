import { HOUR } from '@market/kernel/clock'
import { TIMEOUT_SECONDS } from '@market/money/payments'
import { type PaymentProblem, type Quote, REGISTRATION, requirementsOf, type Way } from '@market/trade/x402'
import { DISCOVERY_EXTENSION, REGISTRATION_EXTENSION } from './discovery-extension.ts'
import { oneLine } from './sanitize.ts'

/** The bodies and headers of a 402 response. `error` is always a stable code; `message` says the same in a sentence. */

const requirementOf = ({ due, description, path }: Quote, { network, chain }: Way, baseUrl: string) => ({
  version: '1',
  scheme: 'exact',
  network,
  asset: { currency: 'USDC', address: chain.usdc },
  payTo: chain.treasury,
  maxAmountRequired: due.toString(),
  description,
  resource: `${baseUrl}${path}`,
})

/** The body of a 402 as our contract describes it. */
export const challengeBody = (quote: Quote, baseUrl: string, problem?: PaymentProblem) => ({
  x402Version: 1,
  accepts: quote.ways.map((way) => requirementOf(quote, way, baseUrl)),
  // fix: challenge-names-proof
  proof: proofOf(quote, baseUrl, problem),
  ...(problem && { error: problem.code, message: messageOf(problem) }),
})

/** How the payment is bound to its payer, before it is made. */
function proofOf({ subject, payoutWaitMs }: Quote, baseUrl: string, problem: PaymentProblem | undefined) {
  const hours = payoutWaitMs === null ? null : payoutWaitMs / HOUR
  const wait =
    hours === null
      ? ''
      : ` The seller is paid ${hours} hours after such a purchase, or at once when the payer signs.`
  return {
    message: `A transaction hash is public, so a hash alone does not prove who paid.${wait} If another request names the same transfer within 15 minutes of its block, the payment is contested: the payer’s signature decides, and without one an undelivered purchase is refunded to the payer after 7 days.`,
    hash: {
      max_age_seconds: 3_600,
      payout_wait_hours: hours,
      contest_minutes: 15,
      refund_after_days: 7,
      signature_required_for: [
        'a wallet that is linked to an account',
        'a wallet with an unpaid order that the transfer could pay',
        'a wallet with an open bounty that the transfer could pay',
      ],
    },
    signature: {
      purpose:
        subject === REGISTRATION
          ? 'x402.register:<network>:<transaction>:<hex SHA-256 of name>'
          : `x402.pay:<network>:<transaction>:${subject.replace('service:', '')}:<hex SHA-256 of brief>`,
      message_url: `${baseUrl}/api/auth/message`,
      headers: ['X-Market-Wallet', 'X-Market-Wallet-Sig', 'X-Market-Wallet-Sig-Ts'],
    },
    reference: { header: 'X-Market-Payment-Reference', claim_header: 'X-Payment-Claim' },
    ...(problem?.sign && { sign: problem.sign }),
  }
}

const PAYMENT_REQUIRED: PaymentProblem = { code: 'payment_required' }

/** Version 1 clients with an EVM account pay the first entry, whatever its network; Solana clients search for theirs. */
const solanaLast = (a: Way, b: Way): number =>
  Number(a.network === 'solana-mainnet') - Number(b.network === 'solana-mainnet')

/** The body of a 402 for version 1 clients, on the networks that version 1 has names for. */
export function versionOneBody(quote: Quote, baseUrl: string, problem = PAYMENT_REQUIRED) {
  const resource = `${baseUrl}/api/x402/v1/pay?service_id=${quote.subject.replace('service:', '')}`
  const accepts = quote.ways.toSorted(solanaLast).flatMap(({ chain, facilitator }) =>
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
  return { x402Version: 1, error: problem.code, message: messageOf(problem), accepts }
}

/** Lets a client name its payment, so that a repeated request returns the same purchase. */
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

/** The `PAYMENT-REQUIRED` header of version 2. It is the same on every route, so that a payment works on any. */
export const versionTwoHeader = (quote: Quote, baseUrl: string, { code } = PAYMENT_REQUIRED) => ({
  x402Version: 2,
  error: code,
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

const MESSAGES: Readonly<Record<string, string>> = {
  payment_required: 'Pay one of the requirements in accepts, then send the request again with the payment.',
  network_not_accepted: 'This cannot be paid on that network. Pay on one of the networks in accepts.',
  no_matching_requirements:
    'The signed payment meets none of the requirements in accepts. Sign one of these.',
  transaction_not_found_yet:
    'The transaction is not on the chain yet. Send the request again after Retry-After seconds.',
  underpaid: 'The transfer is less than the amount due. Pay the whole amount with another transfer.',
  payer_unknown: 'The transfer has no single payer. Pay from one wallet.',
  not_payable: 'The service is not for sale any more.',
  binding_required:
    'The wallet that paid has an account, an unpaid order or an open bounty. Sign proof.sign.message with it and send this request again with the signature.',
  owner_wallet_not_payer:
    'owner_wallet is not the wallet that paid. Send the wallet that paid, or leave owner_wallet out.',
  claim_required: 'The transfer has a payment reference. Send its claim as X-Payment-Claim.',
  reference_of_another_quote: 'The payment reference of the transfer belongs to another quote.',
  paid_after_quote_expired:
    'The transfer was made after the quote expired. It can be refunded; pay the new quote.',
  too_many_failed_payments: 'Too many payments of this wallet failed on the chain. Try again in an hour.',
}

const messageOf = ({ code, message }: PaymentProblem): string =>
  message ?? MESSAGES[code] ?? `The payment was rejected (${code}). Pay again as accepts says.`

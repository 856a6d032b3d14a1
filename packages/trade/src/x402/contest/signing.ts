import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { SIGNATURE_MAX_AGE_MS } from '@market/core/ports/signatures'
import { later } from '@market/kernel/clock'
import type { Network } from '@market/kernel/network'
import { REGISTRATION } from '../quote.ts'

/** What the payer signs for: the subject and the request of a purchase. */
interface Wanted {
  readonly subject: string
  readonly request: Readonly<Record<string, unknown>>
}

interface NamedTransfer {
  readonly network: Network
  readonly reference: string
}

const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(
      String(value ?? '')
        .normalize('NFC')
        .trim(),
    )
    .digest('hex')

/** What the payer of a transfer signs for a purchase with it. */
export const purposeToSign = ({ subject, request }: Wanted, { network, reference }: NamedTransfer): string =>
  subject === REGISTRATION
    ? `x402.register:${network}:${reference}:${hashOf(request['name'])}`
    : `x402.pay:${network}:${reference}:${serviceOf(subject)}:${hashOf(request['brief'])}`

const serviceOf = (subject: string): string => subject.replace('service:', '')

/** The exact text to sign for a purchase, and where to send the signature. */
export interface SignInstructions {
  readonly wallet: string
  readonly purpose: string
  readonly message: string
  readonly wallet_sig_ts: number
  readonly expires_at: string
  /** Returns the text again with a new time. */
  readonly message_url: string
  readonly send_to: string
}

/** Undefined when the payer is not a wallet that can sign. */
export function signInstructions(
  ctx: Needs<'signatures' | 'clock' | 'baseUrl'>,
  wanted: Wanted,
  transfer: NamedTransfer & { readonly payer: string | null },
): SignInstructions | undefined {
  const { network, payer } = transfer
  const chain = network === 'solana-mainnet' ? 'solana' : 'base'
  const wallet = payer === null ? undefined : ctx.signatures.parseWallet(payer, chain)
  if (wallet === undefined) return undefined
  const purpose = purposeToSign(wanted, transfer)
  const now = ctx.clock.wallTime()
  const query = new URLSearchParams({ wallet: wallet.address, wallet_chain: chain, purpose })
  const path =
    wanted.subject === REGISTRATION
      ? '/api/agents/register?pay=x402'
      : `/api/x402/pay?service_id=${serviceOf(wanted.subject)}`
  return {
    wallet: wallet.address,
    purpose,
    message: ctx.signatures.messageToSign(wallet, now.getTime(), purpose),
    wallet_sig_ts: now.getTime(),
    expires_at: later(now, SIGNATURE_MAX_AGE_MS).toISOString(),
    message_url: `${ctx.baseUrl}/api/auth/message?${query}`,
    send_to: `POST ${ctx.baseUrl}${path}`,
  }
}

import { statementOf } from '@market/core/ports/signature-purposes'
import { SIGNATURE_MAX_AGE_MS, type Wallet } from '@market/core/ports/signatures'
import { ApiError } from '@market/kernel/api-error'

export interface Site {
  readonly domain: string
  readonly uri: string
}

const NO_TRANSACTION = 'Signing sends no transaction and costs nothing.'

const SIGN_IN = {
  base: { account: 'Ethereum', chainId: '8453' },
  solana: { account: 'Solana', chainId: 'mainnet' },
} as const

/** 13 digits: the years 2001 to 2286. A time in seconds is outside this range and is rejected. */
const FIRST_MS = 1_000_000_000_000
const LAST_MS = 9_999_999_999_999

const PURPOSE_MAX_LENGTH = 512
/** A line break could add lines to the signed text. A direction mark could reorder it on the screen. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u

const invalidField = (path: string, message: string): ApiError =>
  new ApiError('invalid', message, { details: [{ path, message }] })

export const isMilliseconds = (signedAtMs: number): boolean =>
  Number.isSafeInteger(signedAtMs) && signedAtMs >= FIRST_MS && signedAtMs <= LAST_MS

export const NOT_MILLISECONDS =
  'wallet_sig_ts must be Unix time in milliseconds, a whole number of 13 digits. Multiply seconds by 1000.'

/** What the wallet shows in plain words. A purpose that no request uses is rejected. */
const requireStatement = (purpose: string): string => {
  const isBounded = purpose.length > 0 && purpose.length <= PURPOSE_MAX_LENGTH
  // A lone surrogate is encoded as U+FFFD, so different purposes would have the same signature.
  if (!isBounded || !purpose.isWellFormed() || UNPRINTABLE.test(purpose))
    throw invalidField(
      'purpose',
      `purpose must be 1 to ${PURPOSE_MAX_LENGTH} printable characters on one line`,
    )
  const statement = statementOf(purpose)
  if (statement === undefined)
    throw invalidField(
      'purpose',
      'No request uses this purpose. Reads use session, and each write has its own, such as orders.pay:<order id>.',
    )
  return `${statement} ${NO_TRANSACTION}`
}

/** EIP-4361 for EVM wallets, and the same layout for Solana. The signer and the server must build identical text. */
export const signedMessage = (site: Site, wallet: Wallet, signedAtMs: number, purpose: string): string => {
  if (!isMilliseconds(signedAtMs)) throw invalidField('wallet_sig_ts', NOT_MILLISECONDS)
  const statement = requireStatement(purpose)
  const { account, chainId } = SIGN_IN[wallet.chain]
  return [
    `${site.domain} wants you to sign in with your ${account} account:`,
    wallet.address,
    '',
    statement,
    '',
    `URI: ${site.uri}`,
    'Version: 1',
    `Chain ID: ${chainId}`,
    `Nonce: ${signedAtMs}`,
    `Issued At: ${new Date(signedAtMs).toISOString()}`,
    `Expiration Time: ${new Date(signedAtMs + SIGNATURE_MAX_AGE_MS).toISOString()}`,
    `Request ID: ${purpose}`,
  ].join('\n')
}

import type { Credentials } from '@market/handlers/call'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyRequest } from 'fastify'
import { isSameSite } from './same-site.ts'

/** The cookie of a session, or with an access token of the identity provider. */
export const SESSION_COOKIE = 'idp-token'
const MAX_TOKEN = 8_192

/** Credential fields of the body or query. They are removed from the input before it is parsed. */
const WALLET_FIELDS = ['wallet', 'wallet_sig', 'wallet_sig_ts', 'wallet_chain'] as const
const TOKEN_FIELD = 'idp_access_token'
export const CREDENTIAL_FIELDS: ReadonlySet<string> = new Set([...WALLET_FIELDS, TOKEN_FIELD])

/** How credentials are read for one operation. */
export interface CredentialRules {
  /** Fields that stay in the input although they are named like credentials, such as `wallet` of a query. */
  readonly inputFields: ReadonlySet<string>
  /**
   * Whether users or wallets may call the operation, or its responses are shared: who is signed in gets none of these.
   * Otherwise the cookie, which a browser sends by itself, is ignored.
   */
  readonly allowsCookie: boolean
  /** Whether a cookie from another site is ignored, because the request needs no credential. */
  readonly ignoresForeignCookie: boolean
}

/** Reads the credentials of a request and removes those that were sent as input fields from the input. */
export function readCredentials(
  request: FastifyRequest,
  input: Record<string, unknown>,
  { inputFields, allowsCookie, ignoresForeignCookie }: CredentialRules,
  ownOrigins: ReadonlySet<string>,
): Credentials {
  const bearer = bearerOf(request.headers.authorization)
  const bodyToken = extractToken(input, inputFields)
  const wallet = walletFromHeaders(request) ?? extractWallet(request, input, inputFields)
  const cookieToken = bearer === undefined && allowsCookie ? cookieOf(request, SESSION_COOKIE) : undefined
  const isForeignCookie = cookieToken !== undefined && !isSameSite(request, ownOrigins)
  if (isForeignCookie && !ignoresForeignCookie && bodyToken === undefined && wallet === undefined) {
    throw new ApiError(
      'forbidden',
      'The session cookie is accepted only from our own pages. Send `Authorization: Bearer <access token>`.',
      { code: 'cross_site' },
    )
  }
  return {
    ...(bearer !== undefined && { bearer }),
    ...(bodyToken !== undefined && { bodyToken }),
    ...(cookieToken !== undefined && !isForeignCookie && { cookieToken }),
    ...(wallet !== undefined && { wallet }),
  }
}

function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1]
  if (token === undefined || token.length > MAX_TOKEN) {
    throw new ApiError('unauthenticated', 'The Authorization header must be `Bearer <token>`.', {
      code: 'bad_authorization',
    })
  }
  return token
}

function extractToken(input: Record<string, unknown>, inputFields: ReadonlySet<string>): string | undefined {
  if (inputFields.has(TOKEN_FIELD)) return undefined
  const token = input[TOKEN_FIELD]
  delete input[TOKEN_FIELD]
  if (token === undefined) return undefined
  if (typeof token !== 'string' || token.length === 0 || token.length > MAX_TOKEN) {
    throw new ApiError(
      'unauthenticated',
      `${TOKEN_FIELD} must be an identity-provider access token of at most ${MAX_TOKEN} characters`,
      {
        code: 'bad_token',
      },
    )
  }
  return token
}

/** A wallet without a signature is not a credential. */
function extractWallet(
  { headers }: FastifyRequest,
  input: Record<string, unknown>,
  inputFields: ReadonlySet<string>,
) {
  const { wallet, wallet_sig: signature, wallet_sig_ts: signedAtMs } = input
  // fix: chain-header
  const chain = input['wallet_chain'] ?? headers['x-market-wallet-chain']
  for (const field of WALLET_FIELDS) if (!inputFields.has(field)) delete input[field]
  if (inputFields.has('wallet') || (signature === undefined && signedAtMs === undefined)) return undefined
  return { wallet, signature, signedAtMs, chain }
}

function walletFromHeaders({ headers }: FastifyRequest) {
  const signature = headers['x-market-wallet-sig']
  if (signature === undefined) return undefined
  return {
    wallet: headers['x-market-wallet'],
    signature,
    signedAtMs: headers['x-market-wallet-sig-ts'],
    chain: headers['x-market-wallet-chain'],
  }
}

/** The first cookie of the name that is neither empty nor too long. */
export function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  for (const part of headers.cookie?.split(';') ?? []) {
    const [given, ...value] = part.trim().split('=')
    const text = value.join('=')
    if (given === name && text !== '' && text.length <= MAX_TOKEN) return text
  }
  return undefined
}

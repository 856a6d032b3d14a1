import type { Credentials } from '@market/handlers/call'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyRequest } from 'fastify'
import { isSameSite } from './same-site.ts'

const COOKIE = 'idp-token'
const MAX_TOKEN = 8_192

/** Fields of the body or query that are credentials, whatever the operation: they never reach its input. */
const WALLET_FIELDS = ['wallet', 'wallet_sig', 'wallet_sig_ts', 'wallet_chain'] as const
const TOKEN_FIELD = 'idp_access_token'

/** Operations that ask about a wallet, rather than show one, keep these fields as input. */
export type KeptFields = ReadonlySet<string>

/** What is known of an operation before it is called. */
export interface Taking {
  readonly kept: KeptFields
  /** Whether people may call it. Where they may not, a cookie, which a browser sends by itself, means nothing. */
  readonly takesPeople: boolean
}

/** Takes the credentials out of a request, and out of the input they may have travelled in. */
export function takeCredentials(
  request: FastifyRequest,
  input: Record<string, unknown>,
  { kept, takesPeople }: Taking,
  ownOrigins: ReadonlySet<string>,
): Credentials {
  const bearer = bearerOf(request.headers.authorization)
  const bodyToken = takeToken(input, kept)
  const wallet = walletFromHeaders(request) ?? takeWallet(input, kept)
  const cookieToken = bearer === undefined && takesPeople ? cookieOf(request.headers.cookie) : undefined
  if (cookieToken !== undefined && bodyToken === undefined && wallet === undefined) {
    if (!isSameSite(request, ownOrigins)) {
      throw new ApiError(
        'forbidden',
        'A cookie counts only for requests from our own pages. Send a bearer token.',
        {
          code: 'cross_site',
        },
      )
    }
  }
  return {
    ...(bearer !== undefined && { bearer }),
    ...(bodyToken !== undefined && { bodyToken }),
    ...(cookieToken !== undefined && { cookieToken }),
    ...(wallet !== undefined && { wallet }),
  }
}

function bearerOf(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const token = /^Bearer ([\x21-\x7e]+)$/i.exec(header)?.[1]
  if (token === undefined || token.length > MAX_TOKEN) {
    throw new ApiError('unauthenticated', 'Authorization must be "Bearer" and a token', {
      code: 'bad_authorization',
    })
  }
  return token
}

function takeToken(input: Record<string, unknown>, kept: KeptFields): string | undefined {
  if (kept.has(TOKEN_FIELD)) return undefined
  const token = input[TOKEN_FIELD]
  delete input[TOKEN_FIELD]
  if (token === undefined) return undefined
  if (typeof token !== 'string' || token.length === 0 || token.length > MAX_TOKEN) {
    throw new ApiError('unauthenticated', `${TOKEN_FIELD} must be an identity-provider token`, {
      code: 'bad_token',
    })
  }
  return token
}

/** A wallet that is only named, with no signature, is no credential. */
function takeWallet(input: Record<string, unknown>, kept: KeptFields) {
  const { wallet, wallet_sig: signature, wallet_sig_ts: signedAtMs, wallet_chain: chain } = input
  for (const field of WALLET_FIELDS) if (!kept.has(field)) delete input[field]
  if (kept.has('wallet') || (signature === undefined && signedAtMs === undefined)) return undefined
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

function cookieOf(header: string | undefined): string | undefined {
  for (const part of header?.split(';') ?? []) {
    const [name, ...value] = part.trim().split('=')
    const token = value.join('=')
    if (name === COOKIE && token !== '' && token.length <= MAX_TOKEN) return token
  }
  return undefined
}

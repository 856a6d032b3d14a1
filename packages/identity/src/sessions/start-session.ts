import type { Needs } from '@market/core/context'
import type { LoginTokens } from '@market/core/ports/login'
import type { Wallet } from '@market/core/ports/signatures'
import { markSignatureUsed } from '@market/core/signatures'
import { transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { later, SECOND } from '@market/kernel/clock'
import {
  newSessionToken,
  START_PURPOSE,
  sessionIdOf,
  tokenPlace,
  USER_SESSION_MS,
  WALLET_SESSION_MS,
} from './session.ts'
import { insertSession, type SealedTokens } from './store.ts'

export interface StartedSession {
  /** For the cookie. Only its hash is stored. */
  readonly token: string
  readonly expiresAt: Date
}

type Ctx = Needs<'db' | 'clock' | 'vault'>

/** A session of the user who just signed in. */
export async function startUserSession(
  ctx: Ctx,
  userId: string,
  tokens: LoginTokens,
): Promise<StartedSession> {
  const now = ctx.clock.wallTime()
  const { token, id } = newSession('user')
  const sealed = sealedTokens(ctx, id, tokens)
  // Without a refresh token the session ends with the access token.
  const expiresAt =
    sealed.refresh_token_sealed === null ? sealed.access_expires_at : later(now, USER_SESSION_MS)
  await transact(ctx.db, (tx) =>
    insertSession(tx, { id, idp_user_id: userId, ...sealed, created_at: now, expires_at: expiresAt }),
  )
  return { token, expiresAt }
}

/** What the wallet signed. */
export interface SessionProof {
  readonly wallet: Wallet
  readonly signature: string
  readonly signedAtMs: number
}

/** A session of a wallet, which only reads. The signature starts one session. */
export async function startWalletSession(
  ctx: Needs<'db' | 'clock'>,
  { wallet, signature, signedAtMs }: SessionProof,
): Promise<StartedSession> {
  const now = ctx.clock.wallTime()
  const { token, id } = newSession('wallet')
  const expiresAt = later(now, WALLET_SESSION_MS)
  const { key, chain, address, provenBy } = wallet
  assert(provenBy !== undefined, 'a verified wallet says how it was proven')
  await transact(ctx.db, async (tx) => {
    // fix: session-started-once
    await markSignatureUsed(ctx, tx, { wallet, purpose: START_PURPOSE, signedAtMs })
    await insertSession(tx, {
      id,
      wallet_key: key,
      wallet_chain: chain,
      wallet_address: address,
      wallet_proven_by: provenBy,
      ...(provenBy !== 'key' && { signature, signed_at_ms: BigInt(signedAtMs), checked_at: now }),
      created_at: now,
      expires_at: expiresAt,
    })
  })
  return { token, expiresAt }
}

function newSession(kind: Parameters<typeof newSessionToken>[0]) {
  const token = newSessionToken(kind)
  const id = sessionIdOf(token)
  assert(id !== undefined, 'a new token has the format of a token')
  return { token, id }
}

export function sealedTokens(
  { vault, clock }: Needs<'clock' | 'vault'>,
  id: string,
  { accessToken, refreshToken, expiresInSeconds }: LoginTokens,
): SealedTokens {
  return {
    access_token_sealed: vault.seal(accessToken, tokenPlace(id, 'access_token')),
    refresh_token_sealed:
      refreshToken === undefined ? null : vault.seal(refreshToken, tokenPlace(id, 'refresh_token')),
    access_expires_at: later(clock.wallTime(), Math.max(1, expiresInSeconds) * SECOND),
  }
}

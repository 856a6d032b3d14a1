import { setTimeout as pause } from 'node:timers/promises'
import type { Needs } from '@market/core/context'
import type { LoginProvider, LoginTokens } from '@market/core/ports/login'
import type { Wallet, WalletChain, WalletEvidence } from '@market/core/ports/signatures'
import { transact } from '@market/database/transact'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { earlier, later } from '@market/kernel/clock'
import {
  CHECK_WALLET_MS,
  REFRESH_BEFORE_MS,
  REFRESH_LEASE_MS,
  START_PURPOSE,
  sessionEnded,
  sessionIdOf,
  tokenPlace,
} from './session.ts'
import { sealedTokens } from './start-session.ts'
import {
  deleteSession,
  endLease,
  findSession,
  leaseRefresh,
  type SessionRow,
  saveChecked,
  saveTokens,
} from './store.ts'

interface SessionTimes {
  readonly id: string
  readonly startedAt: Date
  readonly expiresAt: Date
}

export interface UserSession extends SessionTimes {
  readonly userId: string
}

export interface WalletSession extends SessionTimes {
  readonly wallet: Wallet & { readonly provenBy: WalletEvidence }
}

type UserCtx = Needs<'db' | 'clock' | 'vault'> & { readonly login?: LoginProvider | undefined }

const timesOf = ({ id, created_at: startedAt, expires_at: expiresAt }: SessionRow): SessionTimes => ({
  id,
  startedAt,
  expiresAt,
})

async function findRow(ctx: Needs<'db' | 'clock'>, token: string): Promise<SessionRow | undefined> {
  const id = sessionIdOf(token)
  return id === undefined ? undefined : findSession(ctx.db, id, ctx.clock.wallTime())
}

/** Who is signed in, without a look at the access token; undefined when the session ended or is one of a wallet. */
export async function findUserSession(
  ctx: Needs<'db' | 'clock'>,
  token: string,
): Promise<UserSession | undefined> {
  const row = await findRow(ctx, token)
  return row === undefined || row.idp_user_id === null
    ? undefined
    : { ...timesOf(row), userId: row.idp_user_id }
}

const WAIT_MS = 100
/** Longer than the timeout of the identity provider. */
const MAX_WAITS = 50

/** The session with a valid access token of its user. Refreshes it where it expires soon, in one of all requests. */
export async function openUserSession(
  ctx: UserCtx,
  token: string,
): Promise<UserSession & { readonly accessToken: string }> {
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const row = await findRow(ctx, token)
    if (row === undefined || row.idp_user_id === null) throw sessionEnded()
    const found = { ...timesOf(row), userId: row.idp_user_id }
    const { access_expires_at: expiresAt, access_token_sealed: sealed, refresh_token_sealed: refresh } = row
    assert(expiresAt !== null && sealed !== null, 'a session of a user has an access token')
    const now = ctx.clock.wallTime()
    const isValid = expiresAt > now
    if (isValid && (refresh === null || expiresAt > later(now, REFRESH_BEFORE_MS)))
      return { ...found, accessToken: await ctx.vault.open(sealed, tokenPlace(row.id, 'access_token')) }
    if (refresh === null) throw sessionEnded()
    const isMine = await transact(ctx.db, (tx) => leaseRefresh(tx, row, now, later(now, REFRESH_LEASE_MS)))
    if (isMine) {
      const accessToken = await refreshed(ctx, row.id, refresh, isValid ? sealed : undefined)
      return { ...found, accessToken }
    }
    if (isValid)
      return { ...found, accessToken: await ctx.vault.open(sealed, tokenPlace(row.id, 'access_token')) }
    await pause(WAIT_MS)
  }
  throw unavailable('The session is being refreshed. Try again.')
}

/** Refreshes the tokens with no transaction open. While the provider is away, an access token that is still valid goes on. */
async function refreshed(
  ctx: UserCtx,
  id: string,
  refreshSealed: Buffer,
  stillValid: Buffer | undefined,
): Promise<string> {
  assert(ctx.login !== undefined, 'sessions of users need the client of the identity provider')
  const { login } = ctx
  let tokens: LoginTokens
  try {
    tokens = await login.refresh(await ctx.vault.open(refreshSealed, tokenPlace(id, 'refresh_token')))
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'unauthenticated') {
      await transact(ctx.db, (tx) => deleteSession(tx, id))
      throw sessionEnded()
    }
    await transact(ctx.db, (tx) => endLease(tx, id))
    if (stillValid === undefined) throw error
    return ctx.vault.open(stillValid, tokenPlace(id, 'access_token'))
  }
  const isSaved = await transact(ctx.db, (tx) => saveTokens(tx, id, sealedTokens(ctx, id, tokens)))
  if (isSaved) return tokens.accessToken
  // The user signed out meanwhile.
  if (tokens.refreshToken !== undefined) await login.revoke(tokens.refreshToken).catch(() => undefined)
  throw sessionEnded()
}

/** The session of a wallet. The contract of a smart wallet is asked from time to time whether its signature still counts. */
export async function openWalletSession(
  ctx: Needs<'db' | 'clock' | 'signatures'>,
  token: string,
): Promise<WalletSession> {
  const row = await findRow(ctx, token)
  const wallet = row && walletOf(row)
  if (row === undefined || wallet === undefined) throw sessionEnded()
  await checkContract(ctx, row, wallet)
  return { ...timesOf(row), wallet }
}

/** Whose session it is, as its row says. No token is opened, and no contract is asked. */
export async function findOwnSession(
  ctx: Needs<'db' | 'clock'>,
  token: string,
): Promise<UserSession | WalletSession> {
  const row = await findRow(ctx, token)
  if (row === undefined) throw sessionEnded()
  const wallet = walletOf(row)
  if (wallet !== undefined) return { ...timesOf(row), wallet }
  assert(row.idp_user_id !== null, 'a session is one of a user or of a wallet')
  return { ...timesOf(row), userId: row.idp_user_id }
}

function walletOf(row: SessionRow): WalletSession['wallet'] | undefined {
  const { wallet_key: key, wallet_chain: chain, wallet_address: address, wallet_proven_by: provenBy } = row
  if (key === null || chain === null || address === null || provenBy === null) return undefined
  return { key, chain: chain as WalletChain, address, provenBy: provenBy as WalletEvidence }
}

async function checkContract(
  ctx: Needs<'db' | 'clock' | 'signatures'>,
  { id, signature, signed_at_ms: signedAt, checked_at: checkedAt }: SessionRow,
  wallet: WalletSession['wallet'],
): Promise<void> {
  if (signature === null || signedAt === null || checkedAt === null) return
  const now = ctx.clock.wallTime()
  if (checkedAt > earlier(now, CHECK_WALLET_MS)) return
  const signedAtMs = Number(signedAt)
  try {
    // Its age does not count here, so it is checked as of its own time.
    const network = wallet.provenBy === 'key' ? {} : { network: wallet.provenBy }
    await ctx.signatures.verify(
      { wallet, signature, signedAtMs, ...network },
      START_PURPOSE,
      new Date(signedAtMs),
    )
  } catch (error) {
    if (!(error instanceof ApiError) || error.kind !== 'unauthenticated') throw error
    await transact(ctx.db, (tx) => deleteSession(tx, id))
    throw sessionEnded()
  }
  await transact(ctx.db, (tx) => saveChecked(tx, id, now))
}

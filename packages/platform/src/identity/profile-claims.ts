import type { IdentityProfile } from '@market/core/ports/identity'

/** Names of the userinfo claims, which differ between providers. */
export interface ClaimNames {
  readonly username: string
  readonly displayName: string
  readonly avatarUrl: string
  readonly twitterUsername: string
  readonly email: string
  readonly wallets: string
}

export const USUAL_CLAIMS: ClaimNames = {
  username: 'username',
  displayName: 'name',
  avatarUrl: 'picture',
  twitterUsername: 'twitter_username',
  email: 'email',
  wallets: 'wallets',
}

/** A `sub` that can be stored and shown. */
export const USER_ID = /^[\x21-\x7e]{1,255}$/

type Claims = Readonly<Record<string, unknown>>

const LONGEST_NAME = 50
const LONGEST_URL = 2_048
const LONGEST_EMAIL = 254
const MOST_WALLETS = 20
const WALLET = /^[A-Za-z0-9:._-]{1,128}$/
const TWITTER = /^@?([A-Za-z0-9_]{1,15})$/
const EMAIL = /^[^\s@]+@[^\s@]+$/

/**
 * Reads the userinfo claims. Display text is cleaned and shortened. Identifiers are used unchanged or dropped, because a
 * shortened handle or address could belong to another user.
 */
export function profileFrom(userId: string, claims: Claims, names: ClaimNames): IdentityProfile {
  return {
    userId,
    username: shownText(claimOf(claims, names.username)),
    displayName: shownText(claimOf(claims, names.displayName)),
    avatarUrl: httpsUrl(claimOf(claims, names.avatarUrl)),
    twitterUsername: twitterHandle(claimOf(claims, names.twitterUsername)),
    email: claimOf(claims, 'email_verified') === false ? null : emailAddress(claimOf(claims, names.email)),
    wallets: walletList(claimOf(claims, names.wallets)),
  }
}

const claimOf = (claims: Claims, name: string): unknown =>
  Object.hasOwn(claims, name) ? claims[name] : undefined

function shownText(value: unknown): string | null {
  if (typeof value !== 'string') return null
  // Control and format characters, such as bidi overrides.
  const visible = value
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '')
  const short = Array.from(visible.trim()).slice(0, LONGEST_NAME).join('').trim()
  return short === '' ? null : short
}

function httpsUrl(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_URL) return null
  const url = URL.parse(value)
  if (url === null || url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null
  return url.href.length <= LONGEST_URL ? url.href : null
}

function twitterHandle(value: unknown): string | null {
  return typeof value === 'string' ? (TWITTER.exec(value)?.[1] ?? null) : null
}

function emailAddress(value: unknown): string | null {
  if (typeof value !== 'string' || value.length > LONGEST_EMAIL) return null
  return EMAIL.test(value) && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(value) ? value : null
}

function walletList(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return []
  const strings = value.filter((entry): entry is string => typeof entry === 'string' && WALLET.test(entry))
  return [...new Set(strings)].slice(0, MOST_WALLETS)
}

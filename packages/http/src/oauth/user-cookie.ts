import { createHmac, timingSafeEqual } from 'node:crypto'
import type { OAuthKeys } from '@market/handlers/oauth'

/** Keyed hash for values that a browser carries. The label keeps values of one use from counting for another. */
export const hashFor = ({ cookies }: OAuthKeys, label: string, text: string): string =>
  createHmac('sha256', cookies).update(`${label}:${text}`).digest('base64url')

const LABEL = 'user'

/** A value that says who signed in, until the given time. */
export function writeUser(keys: OAuthKeys, userId: string, expiresAt: Date): string {
  const said = `${Buffer.from(userId).toString('base64url')}.${expiresAt.getTime()}`
  return `${said}.${hashFor(keys, LABEL, said)}`
}

export function readUser(keys: readonly OAuthKeys[], value: string, now: Date): string | undefined {
  const [user = '', expires = '', hash = ''] = value.split('.')
  const isOurs = keys.some((one) => isEqual(hash, hashFor(one, LABEL, `${user}.${expires}`)))
  if (!isOurs || Number(expires) <= now.getTime()) return undefined
  return Buffer.from(user, 'base64url').toString()
}

/** In constant time, for texts of any characters. */
export function isEqual(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)]
  return first.length === second.length && timingSafeEqual(first, second)
}

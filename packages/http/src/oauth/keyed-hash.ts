import { createHmac, timingSafeEqual } from 'node:crypto'
import type { OAuthKeys } from '@market/handlers/oauth'

/** Keyed hash for values that a browser carries. The label keeps values of one use from counting for another. */
export const hashFor = ({ cookies }: OAuthKeys, label: string, text: string): string =>
  createHmac('sha256', cookies).update(`${label}:${text}`).digest('base64url')

/** In constant time, for texts of any characters. */
export function isEqual(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)]
  return first.length === second.length && timingSafeEqual(first, second)
}

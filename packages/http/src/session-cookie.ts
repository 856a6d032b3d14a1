import type { ApiResponse } from '@market/handlers/call'
import type { FastifyReply } from 'fastify'
import { SESSION_COOKIE } from './credentials.ts'

interface CookieSettings {
  readonly isSecure: boolean
}

/** Scripts cannot read it, and other sites cannot send it with what changes something. */
export const cookieText = (
  name: string,
  value: string,
  { path = '/', seconds, isSecure }: CookieSettings & { readonly path?: string; readonly seconds: number },
): string =>
  `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`

/** Sets the cookie of a session, or removes it. */
export function setSessionCookie(
  reply: FastifyReply,
  { token = '', expiresAt }: NonNullable<ApiResponse['cookie']>,
  { isSecure }: CookieSettings,
): void {
  const seconds = expiresAt === undefined ? 0 : Math.floor((expiresAt.getTime() - Date.now()) / 1_000)
  reply.header('Set-Cookie', cookieText(SESSION_COOKIE, token, { seconds: Math.max(0, seconds), isSecure }))
}

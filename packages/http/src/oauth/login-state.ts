import type { OAuthKeys } from '@market/handlers/oauth'
import { hashFor, isEqual } from './keyed-hash.ts'

/** What `/auth/login` was asked for. It travels in `state`, so that nothing is stored and each tab has its own. */
export interface AskedLogin {
  readonly returnTo: string
  readonly maxAge: number | undefined
}

export interface LoginState extends AskedLogin {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** How long a user may take at the identity provider. */
export const LOGIN_SECONDS = 600

/** Ties a login to the browser that has this random cookie: only with it, the state, the nonce and the verifier can be made. */
export function loginState(
  key: OAuthKeys,
  browser: string,
  { returnTo, maxAge }: AskedLogin,
  { flow, now }: { readonly flow: string; readonly now: Date },
): LoginState {
  const expires = Math.floor(now.getTime() / 1_000) + LOGIN_SECONDS
  const asked = `${flow}.${expires}.${maxAge ?? ''}.${Buffer.from(returnTo).toString('base64url')}`
  return { returnTo, maxAge, ...secretsOf(key, browser, asked) }
}

/** Undefined for a state of another browser, one that was changed, and an old one. */
export function readLoginState(
  keys: readonly OAuthKeys[],
  browser: string,
  state: string,
  now: Date,
): LoginState | undefined {
  const [flow = '', expires = '', maxAge = '', returnTo = ''] = state.split('.')
  const asked = `${flow}.${expires}.${maxAge}.${returnTo}`
  for (const key of keys) {
    const made = secretsOf(key, browser, asked)
    if (!isEqual(made.state, state)) continue
    if (Number(expires) * 1_000 <= now.getTime()) return undefined
    const text = Buffer.from(returnTo, 'base64url').toString()
    return { ...made, returnTo: text, maxAge: maxAge === '' ? undefined : Number(maxAge) }
  }
  return undefined
}

const secretsOf = (key: OAuthKeys, browser: string, asked: string) => ({
  state: `${asked}.${hashFor(key, 'login state', `${browser}:${asked}`)}`,
  nonce: hashFor(key, 'login nonce', `${browser}:${asked}`),
  verifier: hashFor(key, 'login verifier', `${browser}:${asked}`),
})

const MAX_RETURN_TO = 1_024

/** The address of a path of this origin; undefined for every other text. */
// fix: return-to
export function ownAddress(path: string, appUrl: string): URL | undefined {
  if (path.length > MAX_RETURN_TO || !/^\/(?![/\\])[\x21-\x7e]*$/.test(path)) return undefined
  const url = URL.parse(path, appUrl)
  const isOwn = url !== null && url.origin === new URL(appUrl).origin && !url.pathname.startsWith('//')
  return isOwn && !url.pathname.startsWith('/auth/') ? url : undefined
}

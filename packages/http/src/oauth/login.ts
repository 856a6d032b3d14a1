import { randomBytes } from 'node:crypto'
import { ApiError } from '@market/kernel/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { cookieOf, SESSION_COOKIE } from '../credentials.ts'
import { isSameSite } from '../same-site.ts'
import { cookieText, setSessionCookie } from '../session-cookie.ts'
import type { CurrentProvider, OAuthSettings } from './current-provider.ts'
import { ended } from './ended.ts'
import { type AskedLogin, LOGIN_SECONDS, loginState, ownAddress, readLoginState } from './login-state.ts'
import { PATHS } from './paths.ts'
import { pageRequest } from './requests.ts'

type Query = { readonly Querystring: Readonly<Record<string, unknown>> }

const BROWSER = /^[\w-]{43}$/
const MAX_AGE = /^\d{1,7}$/

/** Where browsers sign in at the identity provider and sign out. All pages of ours use this one login. */
export function mountLogin(scope: FastifyInstance, settings: OAuthSettings, current: CurrentProvider): void {
  const { service, appUrl, ownOrigins, addressOf } = settings
  const isSecure = appUrl.startsWith('https:')
  const redirectUri = `${appUrl}${PATHS.callback}`
  // With the prefix no other host of the site can set it. It needs https and the path `/`.
  const loginCookie = isSecure ? '__Host-login' : 'login'
  const browserOf = (request: FastifyRequest): string | undefined => {
    const value = cookieOf(request, loginCookie)
    return value !== undefined && BROWSER.test(value) ? value : undefined
  }

  scope.get<Query>(PATHS.login, async (request, reply) => {
    await service.limit('oauth.authorize', addressOf(request))
    const asked = askedOf(request.query, appUrl)
    const { keys } = await current()
    const now = service.now()
    // All tabs of a browser share it, so that two of them can sign in at the same time.
    const browser = browserOf(request) ?? randomBytes(32).toString('base64url')
    const flow = randomBytes(9).toString('base64url')
    const login = { ...loginState(keys[0], browser, asked, { flow, now }), redirectUri }
    const url = await service.login.loginUrl(login, request.query['prompt'] === 'login')
    reply.header('Set-Cookie', cookieText(loginCookie, browser, { seconds: LOGIN_SECONDS, isSecure }))
    return reply.redirect(url.href, 303)
  })

  /** The one address that the identity provider knows. */
  scope.get<Query>(PATHS.callback, async (request, reply) => {
    await service.limit('read', addressOf(request))
    const { keys } = await current()
    const state = String(request.query['state'] ?? '')
    const login = readLoginState(keys, browserOf(request) ?? '', state, service.now())
    if (login === undefined) throw ended()
    const callback = new URL(redirectUri)
    callback.search = new URL(request.url, appUrl).search
    const returnTo = ownAddress(login.returnTo, appUrl) ?? new URL(appUrl)
    if (callback.searchParams.get('error') === 'access_denied') {
      returnTo.searchParams.set('login', 'cancelled')
      return reply.redirect(returnTo.href, 303)
    }
    const by = pageRequest(request, addressOf, state)
    const replaced = cookieOf(request, SESSION_COOKIE)
    const session = await service.startSession(callback, { ...login, redirectUri }, replaced, by)
    setSessionCookie(reply, session, { isSecure })
    return reply.redirect(returnTo.href, 303)
  })

  scope.post<{ Body: unknown } & Query>(PATHS.logout, async (request, reply) => {
    await service.limit('write', addressOf(request))
    // fix: logout-site
    if (!isSameSite(request, ownOrigins)) throw crossSite()
    const token = cookieOf(request, SESSION_COOKIE)
    if (token !== undefined) await service.endSession(token, pageRequest(request, addressOf, token))
    setSessionCookie(reply, {}, { isSecure })
    return reply.redirect(askedOf(fieldsOf(request), appUrl).returnTo, 303)
  })
}

const fieldsOf = ({ body, query }: FastifyRequest<{ Body: unknown } & Query>) => ({
  ...query,
  ...(typeof body === 'object' && body !== null && body),
})

function askedOf(
  { return_to: path = '/', max_age: age = '' }: Readonly<Record<string, unknown>>,
  appUrl: string,
): AskedLogin {
  const url = typeof path === 'string' ? ownAddress(path, appUrl) : undefined
  if (url === undefined)
    throw new ApiError('invalid', 'return_to must be a path of this site, such as /orders.', {
      details: [{ path: 'return_to', message: 'must be a path of this site' }],
    })
  if (age !== '' && !(typeof age === 'string' && MAX_AGE.test(age)))
    throw new ApiError('invalid', 'max_age must be a number of seconds, such as 900.', {
      details: [{ path: 'max_age', message: 'must be a number of seconds' }],
    })
  const returnTo = `${url.pathname}${url.search}${url.hash}`
  return { returnTo, maxAge: age === '' ? undefined : Number(age) }
}

const crossSite = (): ApiError =>
  new ApiError('forbidden', 'You sign out only on our own pages.', { code: 'cross_site' })

/** Where a page of ours sends a browser to sign in. */
export const loginPath = (returnTo: string, maxAge: number | undefined, again = false): string => {
  const asked = {
    return_to: returnTo,
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(again && { prompt: 'login' }),
  }
  return `${PATHS.login}?${new URLSearchParams(asked)}`
}

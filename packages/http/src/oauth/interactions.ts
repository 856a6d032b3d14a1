import { RECENT_LOGIN_SECONDS } from '@market/contract/define'
import type { AgentId } from '@market/kernel/ids'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults } from 'oidc-provider'
import { cookieOf, SESSION_COOKIE } from '../credentials.ts'
import { sendPage } from '../pages/page.ts'
import { isSameSite } from '../same-site.ts'
import { consentPage } from './consent-page.ts'
import type { CurrentProvider, OAuthSettings } from './current-provider.ts'
import { ended } from './ended.ts'
import { loginPath } from './login.ts'
import { PATHS } from './paths.ts'
import { isLocal, receiverOf } from './redirect.ts'
import { pageRequest } from './requests.ts'
import { requestedScopes } from './scopes.ts'

interface Visit {
  readonly Params: { readonly uid: string }
}

/** Where a browser signs in and allows or cancels. The cookie of an interaction is sent only to its own path. */
export function mountInteractions(
  scope: FastifyInstance,
  { service, resource, ownOrigins, addressOf }: OAuthSettings,
  current: CurrentProvider,
): void {
  const returnTo = (uid: string) => `${PATHS.interaction}/${uid}/login`
  /** The provider asks for the password again when the login there is older, whatever session it has. */
  const recentLogin = (uid: string, again = false) =>
    // fix: consent-max-age
    loginPath(returnTo(uid), RECENT_LOGIN_SECONDS, again)

  /** The interaction of this browser; throws when it ended, expired, or began in another browser. */
  async function open(request: FastifyRequest<Visit>, reply: FastifyReply) {
    await service.limit('read', addressOf(request))
    const { provider } = await current()
    const details = await provider.interactionDetails(request.raw, reply.raw)
    if (details.uid !== request.params.uid) throw ended()
    return {
      provider,
      details,
      userId: details.result?.login?.accountId ?? details.session?.accountId,
    }
  }

  scope.get<Visit>(`${PATHS.interaction}/:uid`, async (request, reply) => {
    const { provider, details, userId } = await open(request, reply)
    if (userId === undefined) return reply.redirect(returnTo(details.uid), 303)
    const { clientName, redirect } = await clientOf(provider, details.params)
    const { name, agents } = await service.describeUser(userId)
    const text = consentPage({
      uid: details.uid,
      clientName,
      receiver: receiverOf(redirect),
      isLocal: isLocal(redirect),
      userName: name,
      agents,
      scopes: scopesOf(details.params),
    })
    // A program in a browser waits for this window.
    reply.header('Cross-Origin-Opener-Policy', 'unsafe-none')
    return sendPage(reply, text, { redirectTo: originOf(redirect) })
  })

  scope.get<Visit>(`${PATHS.interaction}/:uid/again`, async (request, reply) => {
    const { details } = await open(request, reply)
    return reply.redirect(recentLogin(details.uid, true), 303)
  })

  /** A consent needs a login of the last minutes; an older session signs in again. */
  scope.get<Visit & { Querystring: Readonly<Record<string, unknown>> }>(
    `${PATHS.interaction}/:uid/login`,
    async (request, reply) => {
      const { provider, details } = await open(request, reply)
      if (request.query['login'] === 'cancelled') return cancel(request, reply)
      const session = await service.sessionOf(cookieOf(request, SESSION_COOKIE))
      const now = service.now().getTime()
      // fix: recent-consent
      if (session === undefined || now - session.startedAt.getTime() > RECENT_LOGIN_SECONDS * 1_000)
        return reply.redirect(recentLogin(details.uid), 303)
      const result = { login: { accountId: session.userId, remember: false } }
      await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false })
      return reply.redirect(`${PATHS.interaction}/${details.uid}`, 303)
    },
  )

  scope.post<Visit & { Body: Readonly<Record<string, string>> }>(
    `${PATHS.interaction}/:uid/decide`,
    async (request, reply) => {
      if (!isSameSite(request, ownOrigins)) throw ended()
      const { provider, details, userId } = await open(request, reply)
      if (userId === undefined) throw ended()
      // The second of two clicks.
      if (details.result?.consent !== undefined) return reply.redirect(details.returnTo, 303)
      if (request.body['decision'] !== 'allow') return cancel(request, reply)
      const { client, clientName, redirect } = await clientOf(provider, details.params)
      const grant = new provider.Grant({ accountId: userId, clientId: client.clientId })
      // Two clicks can arrive at once: one interaction is one grant.
      grant.jti = details.uid
      const scopes = scopesOf(details.params)
      // Our scopes are also among those of the server, because registrations may name them.
      grant.addOIDCScope(['openid', 'offline_access', ...scopes].join(' '))
      grant.addResourceScope(resource, scopes.join(' '))
      const grantId = await grant.save()
      const agent = request.body['agent'] ?? ''
      await service.connect(
        {
          id: grantId,
          userId,
          agentId: agent === '' ? null : (agent as AgentId),
          clientId: client.clientId,
          clientName,
          redirectHost: receiverOf(redirect),
          scopes,
        },
        pageRequest(request, addressOf, details.uid),
      )
      const result = { login: { accountId: userId, remember: false }, consent: { grantId } }
      return finish(request, reply, result)
    },
  )

  async function cancel(request: FastifyRequest, reply: FastifyReply) {
    return finish(request, reply, { error: 'access_denied', error_description: 'The user cancelled' })
  }

  async function finish(request: FastifyRequest, reply: FastifyReply, result: InteractionResults) {
    const { provider } = await current()
    const options = { mergeWithLastSubmission: false }
    return reply.redirect(await provider.interactionResult(request.raw, reply.raw, result, options), 303)
  }
}

const scopesOf = (params: Readonly<Record<string, unknown>>) => requestedScopes(String(params['scope'] ?? ''))

type Provider = Awaited<ReturnType<CurrentProvider>>['provider']

async function clientOf(provider: Provider, params: Readonly<Record<string, unknown>>) {
  const client = await provider.Client.find(String(params['client_id']))
  if (client === undefined) throw ended()
  return {
    client,
    clientName: shownName(client.clientName ?? client.clientId),
    redirect: new URL(String(params['redirect_uri'])),
  }
}

const LONGEST_NAME = 60

/** Programs choose their names: no control characters, no text direction, and not longer than the page can bear. */
const shownName = (name: string): string =>
  Array.from(
    name
      .normalize('NFC')
      .replace(/[\p{C}\p{Z}]+/gu, ' ')
      .trim(),
  )
    .slice(0, LONGEST_NAME)
    .join('') || 'a program without a name'

const originOf = ({ origin, protocol }: URL): string => (origin === 'null' ? protocol : origin)

import type { AgentId } from '@market/kernel/ids'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { InteractionResults } from 'oidc-provider'
import { sendPage } from '../pages/page.ts'
import { isSameSite } from '../same-site.ts'
import { consentPage } from './consent-page.ts'
import type { CurrentProvider, OAuthSettings } from './current-provider.ts'
import { ended } from './ended.ts'
import { PATHS } from './provider.ts'
import { isLocal, receiverOf } from './redirect.ts'
import { requestedScopes } from './scopes.ts'
import { hashFor } from './user-cookie.ts'

interface Visit {
  readonly Params: { readonly uid: string }
}

/** Where a browser signs in and allows or cancels. The cookie of an interaction is sent only to its own path. */
export function mountInteractions(
  scope: FastifyInstance,
  { service, appUrl, resource, ownOrigins, addressOf }: OAuthSettings,
  current: CurrentProvider,
): void {
  const redirectUri = `${appUrl}${PATHS.callback}`

  /** The interaction of this browser; throws when it ended, expired, or began in another browser. */
  async function open(request: FastifyRequest<Visit>, reply: FastifyReply) {
    await service.limit('read', addressOf(request))
    const { provider, keys } = await current()
    const details = await provider.interactionDetails(request.raw, reply.raw)
    if (details.uid !== request.params.uid) throw ended()
    // Nothing is stored for the way to the identity provider and back: what ties it to this browser is derived from the uid.
    const { uid } = details
    const login = {
      state: uid,
      nonce: hashFor(keys[0], 'nonce', uid),
      verifier: hashFor(keys[0], 'verifier', uid),
      redirectUri,
    }
    return {
      provider,
      details,
      login,
      userId: details.result?.login?.accountId ?? details.session?.accountId,
    }
  }

  scope.get<Visit>(`${PATHS.interaction}/:uid`, async (request, reply) => {
    const { provider, details, login, userId } = await open(request, reply)
    if (userId === undefined) return reply.redirect((await service.login.loginUrl(login, false)).href, 303)
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
    const { login } = await open(request, reply)
    return reply.redirect((await service.login.loginUrl(login, true)).href, 303)
  })

  scope.get<Visit>(`${PATHS.interaction}/:uid/login`, async (request, reply) => {
    const { provider, details, login } = await open(request, reply)
    const callback = new URL(redirectUri)
    callback.search = new URL(request.url, appUrl).search
    if (callback.searchParams.get('error') === 'access_denied') return cancel(request, reply)
    const profile = await service.login.finish(callback, login)
    await service.saveLogin(profile)
    const result = { login: { accountId: profile.userId, remember: false } }
    await provider.interactionResult(request.raw, reply.raw, result, { mergeWithLastSubmission: false })
    return reply.redirect(`${PATHS.interaction}/${details.uid}`, 303)
  })

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
        request.id,
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

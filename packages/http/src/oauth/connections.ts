import { randomBytes } from 'node:crypto'
import { type OperationId, operations } from '@market/contract/operations'
import type { Scope } from '@market/contract/scopes'
import type { Connection } from '@market/handlers/oauth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { cookieOf } from '../credentials.ts'
import { html } from '../pages/html.ts'
import { page, sendPage } from '../pages/page.ts'
import { isSameSite } from '../same-site.ts'
import type { CurrentProvider, OAuthSettings } from './current-provider.ts'
import { ended } from './ended.ts'
import { PATHS } from './provider.ts'
import { SCOPE_WORDS } from './scopes.ts'
import { hashFor, isEqual, readUser, writeUser } from './user-cookie.ts'

const LOGIN_COOKIE = '_oauth_login'
const USER_COOKIE = '_oauth_user'
/** Marks the state of a sign-in for this page; interactions have a uid without a point. */
const STATE = /^page\.([\w-]{32})$/
const SIGNED_IN_MS = 15 * 60_000

/** The page on which users see and end what they connected. */
export function mountConnections(
  scope: FastifyInstance,
  { service, appUrl, ownOrigins, addressOf }: OAuthSettings,
  current: CurrentProvider,
): void {
  const isSecure = appUrl.startsWith('https:')
  const cookie = (name: string, value: string, path: string, seconds: number) =>
    `${name}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`
  const redirectUri = `${appUrl}${PATHS.callback}`

  const loginOf = async (id: string) => {
    const { keys } = await current()
    return {
      state: `page.${id}`,
      nonce: hashFor(keys[0], 'page nonce', id),
      verifier: hashFor(keys[0], 'page verifier', id),
      redirectUri,
    }
  }

  async function userOf(request: FastifyRequest): Promise<string | undefined> {
    const { keys } = await current()
    return readUser(keys, cookieOf(request, USER_COOKIE) ?? '', service.now())
  }

  scope.get(PATHS.connections, async (request, reply) => {
    await service.limit('read', addressOf(request))
    const userId = await userOf(request)
    if (userId === undefined) {
      const id = randomBytes(24).toString('base64url')
      reply.header('Set-Cookie', cookie(LOGIN_COOKIE, id, PATHS.callback, 600))
      return reply.redirect((await service.login.loginUrl(await loginOf(id), false)).href, 303)
    }
    const { name } = await service.describeUser(userId)
    return sendPage(reply, connectionsPage(name, await service.connections(userId)))
  })

  scope.post<{ Body: Readonly<Record<string, string>> }>(
    `${PATHS.connections}/end`,
    async (request, reply) => {
      await service.limit('write', addressOf(request))
      const userId = await userOf(request)
      if (userId === undefined || !isSameSite(request, ownOrigins)) throw ended()
      await service.endConnection(userId, request.body['connection'] ?? '', request.id)
      return reply.redirect(PATHS.connections, 303)
    },
  )

  /** The identity provider knows one address, for interactions and for this page. */
  scope.get<{ Querystring: Readonly<Record<string, string>> }>(PATHS.callback, async (request, reply) => {
    await service.limit('read', addressOf(request))
    const state = String(request.query['state'] ?? '')
    const callback = new URL(request.url, appUrl)
    // The cookie of an interaction is sent only to its own path.
    if (/^[\w-]{10,64}$/.test(state))
      return reply.redirect(`${PATHS.interaction}/${state}/login${callback.search}`, 303)
    const id = STATE.exec(state)?.[1]
    if (id === undefined || !isEqual(id, cookieOf(request, LOGIN_COOKIE) ?? '')) throw ended()
    const profile = await service.login.finish(callback, await loginOf(id))
    await service.saveLogin(profile)
    const { keys } = await current()
    const until = new Date(service.now().getTime() + SIGNED_IN_MS)
    const user = writeUser(keys[0], profile.userId, until)
    reply.header('Set-Cookie', [
      cookie(USER_COOKIE, user, PATHS.connections, SIGNED_IN_MS / 1_000),
      cookie(LOGIN_COOKIE, '', PATHS.callback, 0),
    ])
    return reply.redirect(PATHS.connections, 303)
  })
}

const timeOf = (at: Date | null): string =>
  at === null ? 'never' : `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`

function connectionsPage(userName: string, connections: readonly Connection[]): string {
  const open = connections.filter(({ grant }) => grant.endedAt === null)
  const ended = connections.filter(({ grant }) => grant.endedAt !== null)
  return page(
    'Connections',
    html`<p class="quiet">You are signed in as <strong>${userName}</strong>.</p>
<p>${open.length === 0 ? 'No program is connected to your account.' : 'These programs act in your name until you end their connection.'}</p>
${open.map(describe)}
${ended.length === 0 ? undefined : html`<p>These connections ended in the last 30 days. What they changed stays until you change it.</p>\n`}
${ended.map(describeEnded)}`,
  )
}

const describeEnded = ({ grant, changes }: Connection) => html`<section>
<h2>${grant.clientName}</h2>
<dl>
<dt>Connected</dt><dd>${timeOf(grant.createdAt)}</dd>
<dt>Ended</dt><dd>${timeOf(grant.endedAt)}</dd>
</dl>
${listOf(changes)}
</section>
`

const listOf = (changes: Connection['changes']) =>
  changes.length === 0
    ? html`<p>It changed nothing.</p>`
    : html`<p>It changed:</p>
<ul>
${changes.map(({ operation, subject, fields, changedAt }) => html`<li>${summaryOf(operation)} ${subject}${fields.length === 0 ? '' : ` (${fields.join(', ')})`}, ${timeOf(changedAt)}</li>\n`)}</ul>`

const summaryOf = (id: string): string => operations[id as OperationId]?.summary ?? id

const describe = ({ grant, agentName, changes }: Connection) => html`<section>
<h2>${grant.clientName}</h2>
<dl>
<dt>The access went to</dt><dd>${grant.redirectHost}</dd>
<dt>Acts for</dt><dd>${agentName === undefined ? 'you' : `your agent ${agentName}`}</dd>
<dt>Connected</dt><dd>${timeOf(grant.createdAt)}</dd>
<dt>Last used</dt><dd>${timeOf(grant.lastUsedAt)}</dd>
</dl>
<ul>
${grant.scopes.map((scope) => html`<li>${SCOPE_WORDS[scope as Scope]}</li>\n`)}</ul>
${listOf(changes)}
<form method="post" action="${PATHS.connections}/end">
<input type="hidden" name="connection" value="${grant.id}">
<button>End the connection of ${grant.clientName}</button>
</form>
</section>
`

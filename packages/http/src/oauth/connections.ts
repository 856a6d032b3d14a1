import { type OperationId, operations } from '@market/contract/operations'
import type { Scope } from '@market/contract/scopes'
import type { Connection } from '@market/handlers/oauth'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { cookieOf, SESSION_COOKIE } from '../credentials.ts'
import { html } from '../pages/html.ts'
import { page, sendPage } from '../pages/page.ts'
import { isSameSite } from '../same-site.ts'
import type { OAuthSettings } from './current-provider.ts'
import { ended } from './ended.ts'
import { loginPath } from './login.ts'
import { PATHS } from './paths.ts'
import { pageRequest } from './requests.ts'
import { SCOPE_WORDS } from './scopes.ts'

/** The page on which users see and end what they connected. */
export function mountConnections(
  scope: FastifyInstance,
  { service, ownOrigins, addressOf }: OAuthSettings,
): void {
  const userOf = async (request: FastifyRequest) =>
    (await service.sessionOf(cookieOf(request, SESSION_COOKIE)))?.userId

  scope.get(PATHS.connections, async (request, reply) => {
    await service.limit('read', addressOf(request))
    const userId = await userOf(request)
    if (userId === undefined) return reply.redirect(loginPath(PATHS.connections, undefined), 303)
    const { name } = await service.describeUser(userId)
    return sendPage(reply, connectionsPage(name, await service.connections(userId)))
  })

  scope.post<{ Body: Readonly<Record<string, string>> }>(
    `${PATHS.connections}/end`,
    async (request, reply) => {
      await service.limit('write', addressOf(request))
      const userId = await userOf(request)
      if (userId === undefined || !isSameSite(request, ownOrigins)) throw ended()
      const by = pageRequest(request, addressOf, cookieOf(request, SESSION_COOKIE) ?? '')
      await service.endConnection(userId, request.body['connection'] ?? '', by)
      return reply.redirect(PATHS.connections, 303)
    },
  )
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

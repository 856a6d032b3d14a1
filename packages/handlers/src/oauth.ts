import type { LimitName } from '@market/contract/limits'
import { nameOf } from '@market/core/context'
import type { LoginProvider, LoginRequest } from '@market/core/ports/login'
import { transact } from '@market/database/transact'
import { findAccount } from '@market/identity/accounts'
import { signIn } from '@market/identity/agents'
import {
  agentsOfUser,
  consumeRecord,
  createGrant,
  deleteRecord,
  endConnection,
  endGrantByServer,
  findRecord,
  listConnections,
  loadKeys,
  type NewGrant,
  type OAuthPayload,
  saveRecord,
} from '@market/identity/oauth'
import {
  endSession,
  findUserSession,
  type StartedSession,
  startUserSession,
  type UserSession,
} from '@market/identity/sessions'
import { ApiError, unavailable } from '@market/kernel/api-error'
import { countOrdersOf } from '@market/trade/orders'
import type { AppServices } from './app-services.ts'
import { enforceLimit } from './limit.ts'
import {
  actorOfGrant,
  type OAuthRequest,
  oauthEvent,
  type ProgramRequest,
  tokenCredential,
} from './oauth-events.ts'

/** What the authorization server needs from the marketplace. */
export type OAuthService = ReturnType<typeof oauthService>
export type { Connection, OAuthKeys, OAuthPayload } from '@market/identity/oauth'
export type { OAuthRequest, ProgramRequest } from './oauth-events.ts'

export function oauthService(app: AppServices, login: LoginProvider) {
  const log = (request: OAuthRequest, happened: Parameters<typeof oauthEvent>[1]) =>
    app.onSecurityEvent(oauthEvent(request, happened))
  const userOf = (userId: string, { credential }: OAuthRequest) =>
    ({ kind: 'user', userId, admin: false, ...(credential && { credential }) }) as const
  return {
    login,
    now: () => app.clock.wallTime(),
    onFault: (error: unknown, requestId: string) => app.onFault(error, { requestId }),
    /** Throws the 429 of the limit. */
    limit: (name: LimitName, address: string) => enforceLimit(app, name, { address }),
    fetchDocument: (url: string, timeoutMs: number) =>
      app.outbound.get({ url, timeoutMs, headers: { accept: 'application/json' } }),
    keys: () => loadKeys(app),
    records: {
      save: (model: string, id: string, payload: OAuthPayload, expiresInSeconds: number | undefined) =>
        saveRecord(app, model, id, payload, expiresInSeconds),
      find: (model: string, id: string) => findRecord(app, model, id),
      consume: (model: string, id: string) => consumeRecord(app, model, id),
      delete: (model: string, id: string) => deleteRecord(app.db, model, id),
    },
    /**
     * Finishes a login: creates the account at the first one, and starts a session that replaces the one of the cookie, so
     * that nobody goes on with a session from before.
     */
    startSession: async (
      callback: URL,
      asked: LoginRequest,
      replaced: string | undefined,
      request: OAuthRequest,
    ): Promise<StartedSession> => {
      const requestedAt = app.clock.now()
      const finished = await finishLogin(app, login, callback, asked).catch((error: unknown) => {
        const rejected = { event: '', outcome: 'rejected', subject: null } as const
        if (error instanceof ApiError && error.kind === 'unauthenticated')
          app.onSecurityEvent({ ...oauthEvent(request, rejected), event: 'login.rejected' })
        throw error
      })
      const { profile, tokens } = finished
      const ctx = { ...app, transact: <T>(work: Parameters<typeof transact<T>>[1]) => transact(app.db, work) }
      await signIn(ctx, { ...profile, requestedAt }, countOrdersOf)
      const session = await startUserSession(app, profile.userId, tokens)
      if (replaced !== undefined) await endSession(app, replaced)
      const actor = userOf(profile.userId, request)
      app.onSecurityEvent({
        ...oauthEvent(request, { event: '', actor, subject: nameOf(actor) }),
        event: 'login.succeeded',
      })
      return session
    },
    /** The session of a user that a cookie names. */
    sessionOf: async (token: string | undefined): Promise<UserSession | undefined> =>
      token === undefined ? undefined : findUserSession(app, token),
    /** Ends the session of a cookie and revokes its refresh token. */
    endSession: async (token: string, request: OAuthRequest): Promise<void> => {
      const ended = await endSession(app, token)
      if (ended === undefined) return
      const subject = ended.userId === null ? `wallet:${ended.wallet}` : `user:${ended.userId}`
      app.onSecurityEvent({
        ...oauthEvent(request, { event: '', subject }),
        caller: subject,
        event: 'login.ended',
      })
    },
    /** How the user is called on pages, and their agents. */
    describeUser: async (userId: string) => {
      const account = await findAccount(app.db, userId)
      const agents = await agentsOfUser(app.db, userId)
      return {
        name: account?.displayName ?? account?.username ?? account?.email ?? userId,
        agents: agents.map(({ id, name }) => ({ id: id as string, name })),
      }
    },
    registered: (
      request: OAuthRequest,
      client: { readonly id: string; readonly name?: string | undefined },
    ) =>
      log(request, {
        event: 'client_registered',
        actor: { kind: 'anonymous' },
        subject: client.id,
        ...(client.name !== undefined && { details: { client_name: client.name } }),
      }),
    connect: async (grant: NewGrant, request: OAuthRequest): Promise<void> => {
      const { id, userId, agentId, clientId, clientName, redirectHost, scopes } = grant
      const credential = request.credential && { ...request.credential, grantId: id, program: clientId }
      const by = { ...request, ...(credential && { credential }) }
      const actor = userOf(userId, by)
      if (!(await createGrant({ ...app, ...by, actor }, grant))) return
      log(by, {
        event: 'access_allowed',
        actor,
        subject: id,
        details: { agent_id: agentId, client_name: clientName, redirect_host: redirectHost, scopes },
      })
    },
    connections: (userId: string) => listConnections(app, userId),
    endConnection: async (userId: string, grantId: string, request: OAuthRequest): Promise<void> => {
      const actor = userOf(userId, request)
      const ended = await endConnection({ ...app, ...request, actor }, userId, grantId)
      if (ended === undefined) return
      const credential = request.credential && { ...request.credential, grantId, program: ended.clientId }
      log(
        { ...request, ...(credential && { credential }) },
        { event: 'connection_ended', actor, subject: grantId, details: { by: 'user' } },
      )
    },
    /** Ends a grant because its program asked for it, or because a code or token of it was used twice. */
    endGrant: async (grantId: string, by: 'program' | 'reuse', request: ProgramRequest): Promise<void> => {
      const credential = tokenCredential(request, grantId)
      const actor = { kind: 'system', name: 'oauth', credential } as const
      const ended = await endGrantByServer({ ...app, ...request, actor }, grantId, by)
      if (ended === undefined) return
      log(
        { ...request, credential },
        {
          event: 'connection_ended',
          subject: grantId,
          details: { by },
          ...(by === 'program' && { actor: actorOfGrant(ended) }),
        },
      )
    },
    /** A code or refresh token was used a second time, which a thief would do. */
    reused: (grantId: string, request: ProgramRequest): void =>
      log(
        { ...request, credential: tokenCredential(request, grantId) },
        { event: `${request.sent}_reused`, outcome: 'rejected', subject: grantId },
      ),
  }
}

/** The access token must be one that the API accepts, or every request of the session would fail. */
async function finishLogin(app: AppServices, login: LoginProvider, callback: URL, asked: LoginRequest) {
  const finished = await login.finish(callback, asked)
  const verified = await app.identity.verify(finished.tokens.accessToken).catch((error: unknown) => {
    throw unavailable('The identity provider issued an access token that the API does not accept.', error)
  })
  if (verified.userId !== finished.profile.userId)
    throw unavailable('The identity provider issued an access token of another user.')
  return finished
}

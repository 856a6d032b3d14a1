import type { LimitName } from '@market/contract/limits'
import type { IdentityProfile } from '@market/core/ports/identity'
import type { LoginProvider } from '@market/core/ports/login'
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
import { countOrdersOf } from '@market/trade/orders'
import type { AppServices } from './app-services.ts'
import { enforceLimit } from './limit.ts'

/** What the authorization server needs from the marketplace. */
export type OAuthService = ReturnType<typeof oauthService>
export type { Connection, OAuthKeys, OAuthPayload } from '@market/identity/oauth'

export function oauthService(app: AppServices, login: LoginProvider) {
  const of = (requestId: string) => ({ ...app, requestId })
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
    /** Creates the account at the first sign-in. */
    saveLogin: async (profile: IdentityProfile): Promise<void> => {
      const ctx = { ...app, transact: <T>(work: Parameters<typeof transact<T>>[1]) => transact(app.db, work) }
      await signIn(ctx, { ...profile, requestedAt: app.clock.now() }, countOrdersOf)
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
    connect: (grant: NewGrant, requestId: string) => createGrant(of(requestId), grant),
    connections: (userId: string) => listConnections(app, userId),
    endConnection: (userId: string, grantId: string, requestId: string) =>
      endConnection(of(requestId), userId, grantId),
    endGrant: (grantId: string, requestId: string) => endGrantByServer(of(requestId), grantId),
  }
}

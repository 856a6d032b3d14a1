import { record } from '@market/core/audit'
import type { Needs, SystemActor } from '@market/core/context'
import { notify } from '@market/core/notifications'
import { type Db, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { DAY, earlier, MINUTE } from '@market/kernel/clock'
import { findWallets } from '../accounts/index.ts'
import { type Agent, findAgentById, findOwnedAgents, isOwner } from '../agents/index.ts'
import type { Grant, GrantChange, NewGrant } from './grant.ts'
import { endGrant, findChangesOf, findGrantsOf, findOpenGrant, insertGrant, saveLastUse } from './store.ts'

const MAX_AGENTS = 100

/** The agents for which a user can let a program act. Linked wallets count as of the last sign-in. */
export const agentsOfUser = async (db: Db, userId: string): Promise<Agent[]> =>
  findOwnedAgents(db, { userId, wallets: await findWallets(db, userId) }, undefined, { limit: MAX_AGENTS })

type Ctx = Needs<'db' | 'clock' | 'ids' | 'vault' | 'requestId' | 'actor'>
type ServerCtx = Omit<Ctx, 'actor'> & { readonly actor: SystemActor }

/** Records what the user allowed, and notifies the user. False when another request of the interaction did. */
export async function createGrant(ctx: Ctx, grant: NewGrant): Promise<boolean> {
  const { id, userId, agentId, clientName, redirectHost, scopes } = grant
  const agents = agentId === null ? [] : await agentsOfUser(ctx.db, userId)
  const agent = agents.find((one) => one.id === agentId)
  if (agentId !== null && agent === undefined)
    throw new ApiError('forbidden', 'This agent belongs to another owner.', { code: 'not_your_agent' })
  return transact(ctx.db, async (tx) => {
    if (!(await insertGrant(tx, grant, ctx.clock.now()))) return false
    await record(ctx, tx, {
      act: 'oauth.connected',
      subject: id,
      details: { agent_id: agentId, client_name: clientName, redirect_host: redirectHost, scopes },
    })
    await notify(ctx, tx, `user:${userId}`, {
      kind: 'oauth.connected',
      title: `${clientName} was connected to ${agent?.name ?? 'your account'}`,
      body: `The access went to ${redirectHost}. If that was not you, end the connection at /oauth/connections.`,
      about: id,
      data: { agent_id: agentId, scopes },
    })
    return true
  })
}

export interface ActiveGrant {
  readonly grant: Grant
  readonly agent: Agent | undefined
}

/**
 * The grant of a call, or undefined when it ended. It also ends for an agent that has another owner now, or whose API key
 * was replaced since: whoever replaces a key wants everybody out.
 */
export async function findActiveGrant(
  ctx: Needs<'db' | 'clock'>,
  id: string,
): Promise<ActiveGrant | undefined> {
  const grant = await findOpenGrant(ctx.db, id)
  if (grant === undefined) return undefined
  const agent = grant.agentId === null ? undefined : await findAgentById(ctx.db, grant.agentId)
  if (agent !== undefined && !(await isAllowed(ctx.db, grant, agent))) return undefined
  await recordUse(ctx, grant)
  return { grant, agent }
}

async function isAllowed(db: Db, { userId, createdAt }: Grant, agent: Agent): Promise<boolean> {
  if (agent.apiKeyReplacedAt !== null && agent.apiKeyReplacedAt > createdAt) return false
  if (agent.ownerUserId === userId) return true
  return isOwner(agent, { userId, wallets: await findWallets(db, userId) })
}

async function recordUse(ctx: Needs<'db' | 'clock'>, { id, lastUsedAt }: Grant): Promise<void> {
  const now = ctx.clock.now()
  const minuteAgo = earlier(now, MINUTE)
  if (lastUsedAt === null || lastUsedAt < minuteAgo)
    await transact(ctx.db, (tx) => saveLastUse(tx, id, now, minuteAgo))
}

export interface Connection {
  readonly grant: Grant
  readonly agentName: string | undefined
  /** What the program changed, the newest first. */
  readonly changes: readonly GrantChange[]
}

/** Ended connections are listed for this time, so that users can check what these changed. */
const ENDED_LISTED_MS = 30 * DAY
const MAX_CHANGES = 100

/** The connections of a user, open ones first. */
export async function listConnections(ctx: Needs<'db' | 'clock'>, userId: string): Promise<Connection[]> {
  const grants = await findGrantsOf(ctx.db, userId, earlier(ctx.clock.now(), ENDED_LISTED_MS))
  return Promise.all(
    grants.map(async (grant) => ({
      grant,
      agentName: grant.agentId === null ? undefined : (await findAgentById(ctx.db, grant.agentId)).name,
      changes: await findChangesOf(ctx.db, grant.id, MAX_CHANGES),
    })),
  )
}

export type EndedGrant = Grant

/** Ends a connection of this user, and returns it. Another user's is left alone. */
export async function endConnection(ctx: Ctx, userId: string, id: string): Promise<EndedGrant | undefined> {
  return transact(ctx.db, async (tx) => {
    const grant = await findOpenGrant(tx, id)
    if (grant?.userId !== userId) return undefined
    if (!(await endGrant(tx, id, ctx.clock.now()))) return undefined
    await record(ctx, tx, { act: 'oauth.ended', subject: id, details: { by: 'user' } })
    return grant
  })
}

/** Ends a grant whose refresh token or code was used twice, or which the program gave back. Undefined when it had ended. */
export async function endGrantByServer(
  ctx: ServerCtx,
  id: string,
  by: 'program' | 'reuse',
): Promise<EndedGrant | undefined> {
  return transact(ctx.db, async (tx) => {
    const grant = await findOpenGrant(tx, id)
    const isEnded = await endGrant(tx, id, ctx.clock.now())
    if (!isEnded || grant === undefined) return undefined
    await record(ctx, tx, { act: 'oauth.ended', subject: id, details: { by } })
    await notify(ctx, tx, `user:${grant.userId}`, {
      kind: 'oauth.ended',
      title: `${grant.clientName} is not connected any more`,
      body: 'The program ended the connection, or one of its codes or tokens was used twice, which a thief would do. /oauth/connections lists what it changed.',
      about: id,
    })
    return grant
  })
}

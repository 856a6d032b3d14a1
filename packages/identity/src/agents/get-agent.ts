import type { Needs } from '@market/core/context'
import { type Db, type Tx, transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { AgentId } from '@market/kernel/ids'
import DataLoader from 'dataloader'
import { sql } from 'kysely'
import { type Agent, agentNotFound } from './agent.ts'
import { isApiKey } from './api-key.ts'
import { SEEN_EVERY_MS } from './naming/free-name.ts'
import { AGENT_COLUMNS, agentOf } from './row.ts'
import { findAgent, findAgentBySlug, findAgents, saveLastSeen } from './store.ts'

/** By id or slug, also an agent without an owner: it is hidden only from lists and searches. */
export async function getAgent(ctx: Needs<'db'>, idOrSlug: string): Promise<Agent> {
  const agent = idOrSlug.startsWith('agt_')
    ? await findAgent(ctx.db, idOrSlug)
    : await findAgentBySlug(ctx.db, idOrSlug.toLowerCase())
  // fix: agent-without-owner
  if (agent === undefined) throw agentNotFound(idOrSlug)
  return agent
}

/** For ids from our own tables: the agent must exist. */
export async function findAgentById(db: Db, id: AgentId): Promise<Agent> {
  return requireAgent(await findAgent(db, id), id)
}

/** Two agents by one query, in the given order. */
export async function findAgentsById(db: Db | Tx, ids: readonly [AgentId, AgentId]): Promise<[Agent, Agent]> {
  const agents = await findAgents(db, ids)
  const byId = (id: AgentId) =>
    requireAgent(
      agents.find((agent) => agent.id === id),
      id,
    )
  return [byId(ids[0]), byId(ids[1])]
}

function requireAgent(agent: Agent | undefined, id: AgentId): Agent {
  if (agent === undefined) throw new Error(`agent ${id} does not exist`)
  return agent
}

export async function findAgentByKey(ctx: Needs<'db' | 'vault' | 'clock'>, apiKey: string): Promise<Agent> {
  if (!isApiKey(apiKey)) throw badApiKey()
  const fingerprints = ctx.vault.fingerprints('api_key', apiKey)
  const found = await Promise.all(fingerprints.map((one) => loadAgentByFingerprint(ctx.db, one)))
  const agent = found.find((one) => one !== undefined)
  if (agent === undefined) throw badApiKey()
  await recordUse(ctx, agent)
  return agent
}

/** An agent without an owner keeps its name while it is used. Written at most once an hour, so that calls stay fast. */
async function recordUse(ctx: Needs<'db' | 'clock'>, agent: Agent): Promise<void> {
  if (agent.marketable) return
  const now = ctx.clock.now()
  const hourAgo = new Date(now.getTime() - SEEN_EVERY_MS)
  if (agent.lastSeenAt > hourAgo) return
  await transact(ctx.db, (tx) => saveLastSeen(tx, agent.id, now, hourAgo))
}

/** The same message for every kind of invalid key, so that it reveals nothing. */
export const badApiKey = (): ApiError =>
  new ApiError(
    'unauthenticated',
    'This API key is not valid. Check it, or recover it as the agent’s owner.',
    { code: 'bad_api_key' },
  )

type AgentLoader = DataLoader<Buffer, Agent | undefined>

const MAX_BATCH = 64
const agentLoaders = new WeakMap<Db, AgentLoader>()

/**
 * Finds the agent of an API key. Requests of one turn of the event loop share one query. Nothing is cached, so a
 * replaced key is rejected at once.
 */
function loadAgentByFingerprint(db: Db, fingerprint: Buffer): Promise<Agent | undefined> {
  const loader = agentLoaders.get(db) ?? agentLoader(db)
  agentLoaders.set(db, loader)
  return loader.load(fingerprint)
}

function agentLoader(db: Db): AgentLoader {
  // Compiled once, because building the SQL takes longer than the rest of the lookup in this process.
  const lookup = db
    .selectFrom('agents')
    .select(AGENT_COLUMNS)
    .select('api_key_fingerprint')
    .where('api_key_fingerprint', '=', sql<Buffer>`any(${[]})`)
    .compile()
  return new DataLoader(
    async (fingerprints) => {
      const query: typeof lookup = { ...lookup, parameters: [fingerprints] }
      const { rows } = await db.executeQuery(query)
      const agents = new Map(rows.map((row) => [row.api_key_fingerprint.toString('hex'), agentOf(row)]))
      return fingerprints.map((fingerprint) => agents.get(fingerprint.toString('hex')))
    },
    { cache: false, maxBatchSize: MAX_BATCH, batchScheduleFn: (run) => void setImmediate(run) },
  )
}

import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import type { Needs } from '../context.ts'
import type { MarketEvent } from './event.ts'
import { findEvents, findLastSeqs } from './store.ts'

/** An agent's own events after a number, oldest first. */
export const findEventsAfter = (
  ctx: { readonly db: Needs<'db'>['db'] | Tx },
  agentId: AgentId,
  after: bigint,
  limit: number,
): Promise<MarketEvent[]> => findEvents(ctx.db, agentId, after, limit)

/** The newest number of each agent that has any: one question for any number of waiting readers. */
export const lastSeqOf = (
  ctx: Needs<'db'>,
  agentIds: readonly AgentId[],
): Promise<ReadonlyMap<string, bigint>> => findLastSeqs(ctx.db, agentIds)

import type { Actor, Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { requireSeller } from '@market/identity/agents'
import type { AgentId } from '@market/kernel/ids'
import { findPublicOrder } from '@market/trade/orders'
import { findOrderOfGeneration } from '../workspaces/index.ts'
import { entriesOf } from './list-portfolio.ts'
import {
  hasSource,
  MAX_HIDDEN,
  orderOfItem,
  type PortfolioEntry,
  type Source,
  sourceNotFound,
  tooManyHidden,
  withHidden,
} from './portfolio.ts'
import { deleteHidden, findHidden, insertHidden } from './store.ts'

interface Change {
  readonly agentId: AgentId
  readonly action: 'hide' | 'unhide'
  readonly source: Source
}

/** Hides a source of the portfolio or shows it again, and returns its order as the agent sees it. */
export function updatePortfolio(
  ctx: Needs<'transact' | 'clock'>,
  actor: Actor,
  { agentId, action, source }: Change,
): Promise<PortfolioEntry> {
  return ctx.transact(async (tx) => {
    await requireSeller(tx, agentId, actor, 'change its portfolio')
    const hidden = await findHidden(tx, agentId)
    const order = await findPublicOrder(tx, agentId, (await orderOf(tx, source)) ?? '')
    const [entry] = await entriesOf(tx, order === undefined ? [] : [order], hidden)
    if (entry === undefined || !hasSource(entry, source)) throw sourceNotFound(source)
    if (action === 'unhide') await deleteHidden(tx, agentId, source)
    else {
      const isHidden = hidden.some(({ type, id }) => type === source.type && id === source.id)
      if (!isHidden && hidden.length >= MAX_HIDDEN) throw tooManyHidden()
      await insertHidden(tx, { agentId, source, orderId: entry.order.id, at: ctx.clock.now() })
    }
    return withHidden(entry, source, action === 'hide')
  })
}

const orderOf = async (tx: Tx, { type, id }: Source): Promise<string | undefined> =>
  type === 'order' ? id : (orderOfItem(id) ?? (await findOrderOfGeneration(tx, id)))

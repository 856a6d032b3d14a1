import type { Needs } from '@market/core/context'
import { getAgent } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { findLastWalletTransaction } from '../wallets/index.ts'
import { findToken } from './store.ts'
import type { Token } from './token.ts'

/** The token of an agent, by the agent's id or slug. */
export async function getToken(ctx: Needs<'db'>, agent: string): Promise<Token> {
  const { id } = await getAgent(ctx, agent)
  const token = await findToken(ctx.db, id)
  if (token === undefined) throw noToken()
  return token
}

export interface TokenDocument {
  readonly name: string
  readonly symbol: string
  readonly description: string
  readonly image: string
  readonly externalUrl: string
}

/**
 * The document that the mint names. It exists from the request of the launch on, because wallets and explorers read it as
 * soon as they see the mint.
 */
export async function getTokenDocument(ctx: Needs<'db' | 'baseUrl'>, agent: string): Promise<TokenDocument> {
  const { id } = await getAgent(ctx, agent)
  const operation = await findLastWalletTransaction(ctx.db, id, 'launch')
  if (operation?.task.kind !== 'launch') throw noToken()
  const { token, description, imageUrl } = operation.task
  const externalUrl = `${ctx.baseUrl}/api/agents/${id}`
  return { name: token.name, symbol: token.symbol, description, image: imageUrl, externalUrl }
}

export const noToken = (): ApiError =>
  new ApiError('not_found', 'This agent has no token. Launch one, or register one that you launched.', {
    code: 'token_not_found',
  })

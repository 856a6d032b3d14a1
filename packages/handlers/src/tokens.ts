import {
  getToken,
  getTokenDocument,
  launchToken,
  mintIdentity,
  registerToken,
  type Token,
} from '@market/custody/tokens'
import { hasEnded, type WalletTransaction } from '@market/custody/wallets'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import type { AgentId } from '@market/kernel/ids'
import { type HandlerContext, handler } from './handler.ts'
import { requireAgent } from './require-actor.ts'
import { awaitResult } from './wallets.ts'

const presentToken = (token: Token) => ({
  data: {
    agent_id: token.agentId,
    token_mint: token.mint,
    token_name: token.name,
    token_symbol: token.symbol,
    token_mode: token.mode,
    token_creator_wallet: token.creatorWallet,
    token_image_url: token.imageUrl,
    token_tx_hash: token.txHash,
    created_at: token.createdAt.toISOString(),
  },
})

/** The agent of the API key, which the path must name. */
function ownAgent(ctx: HandlerContext, agentId: string) {
  const agent = requireAgent(ctx)
  if (agent.id === agentId) return agent
  throw new ApiError(
    'forbidden',
    'An API key acts for its own agent only. Use the id of your agent, or me.',
    {
      code: 'not_your_agent',
    },
  )
}

const PENDING_NOTE = 'The transaction is not final yet. Repeat this request for its result.'

const LAUNCHED_NOTE =
  'Launched as a Token-2022 mint by the agent’s wallet, which holds the whole supply. Nobody can mint more.'

const IDENTITY_NOTE = 'The identity token is in the agent’s wallet and cannot be transferred.'

const presentLaunched = (operation: WalletTransaction) => ({
  data: {
    operation_id: operation.id,
    mint: operation.mint,
    tx_signature: operation.reference,
    creator_wallet: operation.wallet,
    note: hasEnded(operation) ? LAUNCHED_NOTE : PENDING_NOTE,
  },
  isLater: !hasEnded(operation),
})

const presentIdentity = (operation: WalletTransaction) => ({
  data: {
    operation_id: operation.id,
    said_wallet: operation.wallet,
    said_pda: operation.mint,
    tx_signature: operation.reference,
    note: hasEnded(operation) ? IDENTITY_NOTE : PENDING_NOTE,
  },
  isLater: !hasEnded(operation),
})

export const tokenHandlers = {
  getToken: handler('getToken', {
    run: (ctx, input) => getToken(ctx, input.agent_id),
    present: presentToken,
  }),

  getTokenDocument: handler('getTokenDocument', {
    run: (ctx, input) => getTokenDocument(ctx, input.agent_id),
    present: ({ externalUrl, ...document }) => ({ data: { ...document, external_url: externalUrl } }),
  }),

  registerToken: handler('registerToken', {
    run: (ctx, input) => {
      assert(ctx.actor.kind === 'wallet', 'this operation is for wallets')
      return registerToken(ctx, input.agent_id as AgentId, ctx.actor.wallet, {
        mint: input.token_mint,
        name: input.token_name,
        symbol: input.token_symbol,
        creatorWallet: input.token_creator_wallet,
        imageUrl: input.token_image_url ?? null,
        txHash: input.token_tx_hash ?? null,
      })
    },
    present: presentToken,
  }),

  launchToken: handler('launchToken', {
    run: (ctx, { agent_id, symbol, description, image_url }) =>
      launchToken(ctx, ownAgent(ctx, agent_id), { symbol, description, imageUrl: image_url }),
    afterCommit: awaitResult,
    present: presentLaunched,
  }),

  mintIdentity: handler('mintIdentity', {
    run: (ctx, { agent_id }) => mintIdentity(ctx, ownAgent(ctx, agent_id)),
    afterCommit: awaitResult,
    present: presentIdentity,
  }),
}

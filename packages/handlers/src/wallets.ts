import {
  awaitWalletTransaction,
  cancelPendingAddress,
  coinsOf,
  exportInfo,
  exportKey,
  type Funding,
  formatUnits,
  getFunding,
  hasEnded,
  listWalletTransactions,
  nameOfAsset,
  rejectFailed,
  requireReader,
  sendFromWallet,
  setWithdrawAddress,
  shownAmount,
  type WalletTransaction,
  type WithdrawAddresses,
  withdrawFromWallet,
} from '@market/custody/wallets'
import type { AgentId } from '@market/kernel/ids'
import { type HandlerContext, handler } from './handler.ts'
import { loadActor } from './load-actor.ts'
import { ownerOf, ownerSignature } from './owner-of.ts'
import { requireAgent } from './require-actor.ts'

const presentAddresses = ({ effective, pending }: WithdrawAddresses) => ({
  withdraw_address: effective?.address ?? null,
  pending_address: pending?.address ?? null,
  pending_effective_at: pending?.effectiveAt.toISOString() ?? null,
})

const presentFunding = ({ address, balances, tokens, launch, identity, withdraw, exportedAt }: Funding) => ({
  deposit_address: address,
  balance_sol: coinsOf('SOL', balances.lamports),
  balance_usdc: coinsOf('USDC', balances.usdcMicros),
  tokens: tokens.map(({ token: { mint, decimals }, amount }) => ({
    mint,
    amount: formatUnits(amount, decimals),
    decimals,
  })),
  requirements: { launch: presentRequirement(launch), said: presentRequirement(identity) },
  ...presentAddresses(withdraw),
  exported_at: exportedAt?.toISOString() ?? null,
})

const presentRequirement = ({ cost, required }: Funding['launch']) => ({
  cost_sol: coinsOf('SOL', cost),
  required_sol: coinsOf('SOL', required),
})

function presentOperation({ id, task, ...operation }: WalletTransaction) {
  const transfer = task.kind === 'send' || task.kind === 'withdraw' ? task : undefined
  return {
    operation_id: id,
    kind: task.kind,
    status: operation.status,
    asset: transfer === undefined ? null : nameOfAsset(transfer.asset),
    amount:
      transfer === undefined || transfer.amount === null
        ? null
        : shownAmount(transfer.asset, transfer.amount),
    to: transfer?.to ?? null,
    tx_signature: operation.reference,
    mint: operation.mint,
    failure: operation.failure,
    hold_code: operation.holdCode ?? null,
    created_at: operation.createdAt.toISOString(),
    updated_at: operation.updatedAt.toISOString(),
  }
}

/** Waits for the worker. A failed operation is an error. */
export const awaitResult = async (
  ctx: HandlerContext,
  operation: WalletTransaction,
): Promise<WalletTransaction> => rejectFailed(ctx, await awaitWalletTransaction(ctx, operation))

const presentSent = (operation: WalletTransaction) => ({
  data: presentOperation(operation),
  isLater: !hasEnded(operation),
})

function presentExport(operation: WalletTransaction) {
  const [encapsulated, ciphertext] = operation.sealedExport?.split('.') ?? []
  return {
    data: {
      ...presentOperation(operation),
      address: operation.wallet,
      encapsulated_key: encapsulated ?? null,
      ciphertext: ciphertext ?? null,
      info: exportInfo(operation),
    },
    isLater: !hasEnded(operation),
  }
}

export const walletHandlers = {
  getFunding: handler('getFunding', {
    run: async (ctx, input) => getFunding(ctx, input.agent_id as AgentId, await loadActor(ctx)),
    present: (funding) => ({ data: presentFunding(funding) }),
  }),

  listWalletOperations: handler('listWalletOperations', {
    run: async (ctx, { agent_id, limit, cursor }) =>
      listWalletTransactions(ctx, agent_id as AgentId, await loadActor(ctx), { limit, cursor }),
    present: ({ operations, nextCursor }) => ({
      data: operations.map(presentOperation),
      next_cursor: nextCursor,
    }),
  }),

  setWithdrawAddress: handler('setWithdrawAddress', {
    run: async (ctx, input) =>
      setWithdrawAddress(
        { ...ctx, wallets: requireReader(ctx) },
        input.agent_id as AgentId,
        await ownerOf(ctx),
        input.address,
        ownerSignature(ctx),
      ),
    present: (addresses) => ({ data: presentAddresses(addresses) }),
  }),

  cancelWithdrawAddress: handler('cancelWithdrawAddress', {
    run: async (ctx, input) => cancelPendingAddress(ctx, input.agent_id as AgentId, await ownerOf(ctx)),
    present: (addresses) => ({ data: presentAddresses(addresses) }),
  }),

  withdraw: handler('withdraw', {
    run: (ctx, { asset, amount }) => withdrawFromWallet(ctx, requireAgent(ctx), { asset, amount }),
    afterCommit: awaitResult,
    present: presentSent,
  }),

  sendFromWallet: handler('sendFromWallet', {
    run: async (ctx, { agent_id, asset, to, amount }) =>
      sendFromWallet(
        ctx,
        agent_id as AgentId,
        await ownerOf(ctx),
        { asset, to, amount },
        ownerSignature(ctx),
      ),
    afterCommit: awaitResult,
    present: presentSent,
  }),

  exportKey: handler('exportKey', {
    run: async (ctx, input) =>
      exportKey(ctx, input.agent_id as AgentId, await ownerOf(ctx), input.public_key, ownerSignature(ctx)),
    afterCommit: awaitResult,
    present: presentExport,
  }),
}

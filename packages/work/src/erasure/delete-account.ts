import { record } from '@market/core/audit'
import type { Needs } from '@market/core/context'
import { deleteEventsOf } from '@market/core/events'
import { deleteNotificationsOf } from '@market/core/notifications'
import { deleteSwapsOf } from '@market/custody/swaps'
import {
  type AgentHolding,
  findActiveOf,
  findHoldings,
  nameOfAsset,
  shownAmount,
  textOf,
  type WalletServices,
  type WalletTransaction,
} from '@market/custody/wallets'
import { hasMoneyInEarn } from '@market/earn/withdrawals'
import { eraseReferences } from '@market/files/uploads'
import { eraseAccount } from '@market/identity/accounts'
import { closeAgents, findAgentsOfUser, lockAgentsOfUser } from '@market/identity/agents'
import { deleteGrantsOf } from '@market/identity/oauth'
import { deleteSessionsOf } from '@market/identity/sessions'
import { ApiError } from '@market/kernel/api-error'
import { hasOpenPayouts } from '@market/money/payouts'
import { eraseBounties, hasOpenBounties, withdrawClaimsOf } from '@market/offers/bounties'
import { deactivateListingsOf } from '@market/offers/listings'
import { eraseOrders, hasOpenOrders } from '@market/trade/orders'
import { eraseComments } from '@market/trade/reviews'
import { eraseMessages } from '../messages/index.ts'
import { erasePrompts } from '../workspaces/index.ts'

/**
 * Deletes the personal data of a user. The provider's id of the user stays as a pseudonym, so that orders, ledger and
 * audit log still add up, and so that nobody else becomes the owner of the user's agents.
 */
export async function deleteAccount(
  ctx: Needs<'transact' | 'db' | 'chains' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'> &
    Pick<WalletServices, 'wallets' | 'hasSolana'>,
  userId: string,
): Promise<{ readonly deletedAt: Date; readonly sessions: Awaited<ReturnType<typeof deleteSessionsOf>> }> {
  const checked = await findAgentsOfUser(ctx.db, userId)
  const held = await findHoldings(ctx, checked)
  // fix: wallets-emptied
  if (held.length > 0) throw moneyInWallets(held)
  return ctx.transact(async (tx) => {
    const deletedAt = ctx.clock.now()
    const user = `user:${userId}` as const
    // First: a second request of the same user, and a new order, wait for this row and then find no account.
    const wallets = await eraseAccount(tx, userId, deletedAt)
    const agentIds = await lockAgentsOfUser(tx, userId)
    const buyers = [user, ...agentIds.map((id) => `agent:${id}` as const)]
    if (await hasOpenOrders(tx, buyers, agentIds)) throw openOrders()
    if (await hasOpenBounties(tx, buyers)) throw openBounties()
    if (await hasOpenPayouts(tx, agentIds)) throw moneyOwed()
    if (await hasMoneyInEarn(ctx, tx, buyers)) throw moneyInEarn()
    if (agentIds.some((id) => !checked.includes(id))) throw agentAdded()
    const active = await findActiveOf(tx, agentIds)
    if (active !== undefined) throw walletBusy(active)
    await withdrawClaimsOf(ctx, tx, agentIds)
    await closeAgents(ctx, tx, { userId, wallets }, agentIds)
    for (const agentId of agentIds) await deactivateListingsOf(ctx, tx, agentId)
    await eraseBounties(tx, buyers, agentIds)
    const orderIds = await eraseOrders(tx, buyers)
    await eraseMessages(tx, orderIds)
    await eraseReferences(tx, buyers)
    await eraseComments(tx, orderIds)
    await erasePrompts(tx, orderIds)
    await deleteEventsOf(tx, buyers)
    await deleteNotificationsOf(tx, user)
    await deleteGrantsOf(tx, userId)
    const sessions = await deleteSessionsOf(tx, userId, wallets)
    await deleteSwapsOf(tx, userId)
    await record(ctx, tx, { act: 'account.deleted', subject: user, details: { agents: agentIds } })
    return { deletedAt, sessions }
  })
}

const openOrders = (): ApiError =>
  new ApiError(
    'conflict',
    'You or one of your agents has an open order. Complete or cancel it, then delete your account.',
    { code: 'account_has_open_orders' },
  )

const openBounties = (): ApiError =>
  new ApiError(
    'conflict',
    'You or one of your agents has an open bounty. Cancel it, then delete your account.',
    { code: 'account_has_open_bounties' },
  )

const moneyInEarn = (): ApiError =>
  new ApiError(
    'conflict',
    'You or one of your agents has money in Earn. Withdraw it and wait until it was paid, then delete your account.',
    { code: 'account_has_money_in_earn' },
  )

/** Names everything that the first wallets hold. */
const moneyInWallets = (held: readonly AgentHolding[]): ApiError =>
  new ApiError(
    'conflict',
    `The wallets of your agents hold ${held.map(({ agentId, asset, amount }) => `${textOf(asset, amount)} (${agentId})`).join(', ')}. Set a withdraw address with PUT /api/agents/{agent_id}/withdraw-address, withdraw each asset with POST /api/agents/me/withdraw, or send it with the owner wallet. Then delete your account.`,
    {
      code: 'account_has_money_in_wallets',
      fields: {
        wallets: held.map(({ agentId, asset, amount }) => ({
          agent_id: agentId,
          asset: nameOfAsset(asset),
          amount: shownAmount(asset, amount),
        })),
      },
    },
  )

const walletBusy = ({ id, agentId }: WalletTransaction): ApiError =>
  new ApiError(
    'conflict',
    `The wallet of your agent ${agentId} is busy with ${id}. Wait until GET /api/agents/${agentId}/wallet/operations shows that it has ended, then delete your account.`,
    { code: 'account_has_money_in_wallets' },
  )

const agentAdded = (): ApiError =>
  new ApiError('conflict', 'An agent was added to your account meanwhile. Delete your account again.')

const moneyOwed = (): ApiError =>
  new ApiError(
    'conflict',
    'A payout to one of your agents is not finished. Wait until it was sent, or retry it, then delete your account.',
    { code: 'account_has_open_payouts' },
  )

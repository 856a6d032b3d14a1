import { record } from '@market/core/audit'
import { type Needs, nameOf } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import type { WalletReader } from '@market/core/ports/agent-wallets'
import type { Tx } from '@market/database/transact'
import {
  type Agent,
  lockOwnedAgent,
  notifyOwner,
  type Owner,
  type OwnerSignature,
} from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { later } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import { requireSignature } from '../require-signature.ts'
import { cancelWithdrawAddress, findWithdrawAddresses, insertWithdrawAddress } from './store.ts'
import {
  addressesAt,
  WITHDRAW_DELAY_MS,
  type WithdrawAddress,
  type WithdrawAddresses,
} from './withdraw-address.ts'

type Ctx = Needs<'transact' | 'clock' | 'ids' | 'vault' | 'actor' | 'requestId'>

/**
 * Sets the address to which the API key may withdraw, after 24 hours. It replaces a pending one. An owner wallet signs for
 * it, which the worker verifies again. The worker notifies the owner and starts the 24 hours.
 */
export async function setWithdrawAddress(
  ctx: Ctx & { readonly wallets: WalletReader },
  agentId: AgentId,
  owner: Owner,
  address: string,
  signature: OwnerSignature | undefined,
): Promise<WithdrawAddresses> {
  const rejection = await ctx.wallets.rejectionReason('USDC', address)
  if (rejection !== undefined) throw badAddress(rejection)
  return ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, agentId, owner)
    if ((await findWalletAddress(tx, agentId, 'solana')) === address)
      throw badAddress('it is the server wallet itself')
    const ownerSignature = agent.ownerWallet === null ? null : requireSignature(agent, signature)
    const now = ctx.clock.now()
    const { effective, pending } = addressesAt(await findWithdrawAddresses(tx, agentId), now)
    if (pending?.address === address) return { effective, pending }
    if (pending !== null) await cancel(ctx, tx, agent, pending)
    if (effective?.address === address) return { effective, pending: null }
    const added = {
      ownerSignature,
      id: ctx.ids.next('wad'),
      address,
      createdAt: now,
      effectiveAt: later(now, WITHDRAW_DELAY_MS),
    }
    await insertWithdrawAddress(tx, agentId, nameOf(ctx.actor), added)
    await record(ctx, tx, { act: 'wallets.withdraw-address', subject: agentId, details: { address } })
    return { effective, pending: { ...added, storedAt: now, notifiedAt: null } }
  })
}

/** Cancels the pending address, if there is one. The effective one stays. */
export const cancelPendingAddress = (ctx: Ctx, agentId: AgentId, owner: Owner): Promise<WithdrawAddresses> =>
  ctx.transact(async (tx) => {
    const agent = await lockOwnedAgent(tx, agentId, owner)
    const now = ctx.clock.now()
    const { effective, pending } = addressesAt(await findWithdrawAddresses(tx, agentId), now)
    if (pending === null) return { effective, pending }
    await cancel(ctx, tx, agent, pending)
    return { effective, pending: null }
  })

async function cancel(ctx: Ctx, tx: Tx, agent: Agent, { id, address }: WithdrawAddress): Promise<void> {
  await cancelWithdrawAddress(tx, id, ctx.clock.now())
  await record(ctx, tx, {
    act: 'wallets.withdraw-address-cancel',
    subject: agent.id,
    details: { address },
  })
  await notifyOwner(ctx, tx, agent, {
    kind: 'agent.withdraw_address_cancelled',
    title: `The new withdraw address of ${agent.name} was cancelled`,
    body: `${address} does not become the withdraw address.`,
    data: { address },
  })
}

const badAddress = (reason: string): ApiError =>
  new ApiError('invalid', `This address cannot receive withdrawals: ${reason}. Send another one.`, {
    code: 'bad_withdraw_address',
    details: [{ path: 'address', message: reason }],
  })

import type { Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import { type Tx, transact } from '@market/database/transact'
import { later, SECOND } from '@market/kernel/clock'
import type { AgentId } from '@market/kernel/ids'
import type { Network } from '@market/kernel/network'
import type { Agent } from '../agent.ts'
import { END_LEAK, notifyOwner } from '../notify-owner.ts'
import { findAgent } from '../store.ts'
import { isSignedByOwner } from './owner-signature.ts'
import { decideAddresses, namedAddresses, type PaidAddress } from './paid-addresses.ts'
import {
  deleteConfirmations,
  deletePaidAddress,
  deletePayoutChanges,
  findConfirmations,
  findPaidAddresses,
  findPayoutChanges,
  lockAddresses,
  type PayoutConfirmation,
  postponePayoutChanges,
  savePaidAddress,
} from './store.ts'

type Ctx = Needs<'db' | 'clock' | 'ids' | 'signatures'>

const AT_ONCE = 200
/** A smart wallet's signature is verified by nodes, which may be unreachable. */
const POSTPONED_MS = 10 * SECOND

/**
 * Records the payout addresses of agents whose row changed, and notifies the owner. Only the
 * worker runs it, and only what it records is paid.
 */
export async function recordPayoutAddresses(ctx: Ctx): Promise<void> {
  const errors: unknown[] = []
  for (const [agentId, changes] of await findPayoutChanges(ctx.db, ctx.clock.now(), AT_ONCE))
    try {
      await recordChange(ctx, agentId, changes)
    } catch (error) {
      errors.push(error)
      await postponePayoutChanges(ctx.db, changes, later(ctx.clock.now(), POSTPONED_MS))
    }
  if (errors.length > 0) throw new AggregateError(errors, 'Not every payout address could be recorded')
}

async function recordChange(ctx: Ctx, agentId: AgentId, changes: readonly bigint[]): Promise<void> {
  const confirmations = await findConfirmations(ctx.db, agentId)
  const confirmed = await verifiedAddresses(ctx, agentId, confirmations)
  await transact(ctx.db, async (tx) => {
    await lockAddresses(tx, agentId)
    const agent = await findAgent(tx, agentId)
    if (agent !== undefined) {
      const now = ctx.clock.now()
      const isNew = (await findPaidAddresses(tx, agentId)).length === 0
      const recorded = await record(tx, agent, confirmed, now)
      // What a new agent names is its registration; what the owner wallet signed for is its own act.
      const unexpected = recorded.filter(
        ({ address, effectiveAt }) => effectiveAt > now || !(isNew || confirmed.includes(address)),
      )
      // fix: worker-notifies-address
      if (unexpected.length > 0) await notifyOfAddresses(ctx, tx, agent, unexpected)
    }
    await deleteConfirmations(tx, agentId, confirmations)
    await deletePayoutChanges(tx, changes)
  })
}

/** The addresses for which the owner wallet really signed. */
async function verifiedAddresses(
  ctx: Ctx,
  agentId: AgentId,
  confirmations: readonly PayoutConfirmation[],
): Promise<string[]> {
  const agent = confirmations.length === 0 ? undefined : await findAgent(ctx.db, agentId)
  if (agent === undefined) return []
  const verified: string[] = []
  for (const confirmation of confirmations) {
    const { address } = confirmation
    if (await isSignedByOwner(ctx, agent, confirmation, `agents.payout:${agentId}:${address}`))
      verified.push(address.startsWith('0x') ? address.toLowerCase() : address)
  }
  return verified
}

async function record(
  tx: Tx,
  agent: Agent,
  confirmed: readonly string[],
  now: Date,
): Promise<readonly PaidAddress[]> {
  const serverWallet = (await findWalletAddress(tx, agent.id, 'solana')) ?? null
  const known = await findPaidAddresses(tx, agent.id)
  const { recorded, dropped } = decideAddresses({ agent, serverWallet, known, confirmed, now })
  for (const address of dropped) await deletePaidAddress(tx, agent.id, address)
  for (const address of recorded) await savePaidAddress(tx, agent.id, address, now)
  return recorded
}

async function notifyOfAddresses(
  ctx: Ctx,
  tx: Tx,
  agent: Agent,
  recorded: readonly PaidAddress[],
): Promise<void> {
  const addresses = [...new Set(recorded.map(({ address }) => address))]
  const from = recorded[0]?.effectiveAt.toISOString()
  await notifyOwner(ctx, tx, agent, {
    kind: 'agent.payout_address_waits',
    title: `New payout address of ${agent.name}`,
    body: `Payouts are sent to ${addresses.join(' and ')} from ${from} on, or when the owner wallet has signed for it. If you did not do this, call POST /api/agents/{agent_id}/payout-change/cancel. ${END_LEAK}`,
    data: { addresses, effective_at: from },
  })
}

interface PaidOn {
  readonly payees: readonly string[]
  /** Addresses that the agent's row names and that are not paid yet, with the time from which they are, if it is known. */
  readonly waiting: readonly { readonly address: string; readonly from: Date | null }[]
}

/**
 * Where the worker pays an agent on a network. An agent that it has not seen yet is recorded here, so that its first
 * payout does not wait for the sweep.
 */
export async function paidAddresses(
  ctx: Needs<'clock'>,
  tx: Tx,
  agent: Agent,
  network: Network,
): Promise<PaidOn> {
  const now = ctx.clock.now()
  const known = await knownAddresses(tx, agent, now)
  const here = known.filter((one) => one.network === network)
  const serverWallet = (await findWalletAddress(tx, agent.id, 'solana')) ?? null
  const unknown = namedAddresses(agent, serverWallet, now)
    .filter((one) => one.network === network && !here.some(({ address }) => address === one.address))
    .map(({ address }) => ({ address, from: null }))
  return {
    payees: here.filter(({ effectiveAt }) => effectiveAt <= now).map(({ address }) => address),
    waiting: [
      ...here
        .filter(({ effectiveAt }) => effectiveAt > now)
        .map(({ address, effectiveAt }) => ({ address, from: effectiveAt })),
      ...unknown,
    ],
  }
}

async function knownAddresses(tx: Tx, agent: Agent, now: Date): Promise<readonly PaidAddress[]> {
  const known = await findPaidAddresses(tx, agent.id)
  if (known.length > 0) return known
  await lockAddresses(tx, agent.id)
  if ((await findPaidAddresses(tx, agent.id)).length === 0) await record(tx, agent, [], now)
  return findPaidAddresses(tx, agent.id)
}

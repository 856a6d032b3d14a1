import type { Actor, Needs } from '@market/core/context'
import { findWalletAddress } from '@market/core/custody'
import type { Holding, WalletBalances } from '@market/core/ports/agent-wallets'
import type { Db, Tx } from '@market/database/transact'
import { requireSeller } from '@market/identity/agents'
import { assert } from '@market/kernel/assert'
import { idField, type NextCursor, newestFirst, type PageRequest } from '@market/kernel/cursor'
import type { AgentId } from '@market/kernel/ids'
import { findWithdrawAddresses } from './addresses/store.ts'
import { addressesAt, type WithdrawAddresses } from './addresses/withdraw-address.ts'
import { underfunded } from './failure.ts'
import { withHold } from './hold.ts'
import { requiredLamports, type WalletTransaction } from './operation.ts'
import { findLastWalletTransaction, findWalletTransactions } from './store.ts'
import { requireReader, type WalletServices } from './wallet-context.ts'

interface Requirement {
  readonly cost: bigint
  readonly required: bigint
}

export interface Funding {
  readonly address: string
  readonly balances: WalletBalances
  /** The other tokens that it holds and can send. */
  readonly tokens: readonly Holding[]
  readonly launch: Requirement
  readonly identity: Requirement
  readonly withdraw: WithdrawAddresses
  /** When the secret key was last exported: then its owner can spend too. */
  readonly exportedAt: Date | null
}

/** The agent's server wallet, read from the chain. */
export async function getFunding(
  ctx: Needs<'db' | 'clock'> & WalletServices,
  agentId: AgentId,
  actor: Actor,
): Promise<Funding> {
  await requireSeller(ctx.db, agentId, actor, 'see its wallet')
  const reader = requireReader(ctx)
  const address = await addressOf(ctx.db, agentId)
  const [required, tokens, addresses, exported] = await Promise.all([
    readRequirements(ctx, address),
    reader.holdings(address),
    findWithdrawAddresses(ctx.db, agentId),
    findLastWalletTransaction(ctx.db, agentId, 'export'),
  ])
  return {
    address,
    ...required,
    tokens,
    withdraw: addressesAt(addresses, ctx.clock.now()),
    exportedAt: exported?.createdAt ?? null,
  }
}

/** What the wallet holds, and what it must hold for a launch and an identity mint. */
async function readRequirements(
  ctx: WalletServices,
  address: string,
): Promise<Pick<Funding, 'balances' | 'launch' | 'identity'>> {
  const reader = requireReader(ctx)
  const [balances, costs] = await Promise.all([reader.balances(address), reader.costs()])
  const requirement = (cost: bigint): Requirement => ({
    cost,
    required: requiredLamports(cost, costs, ctx.walletMinimumLamports),
  })
  return { balances, launch: requirement(costs.launch), identity: requirement(costs.identity) }
}

/** Throws 402 when the wallet does not hold what a launch or an identity mint requires. */
export async function requireMintFunds(
  ctx: WalletServices,
  address: string,
  kind: 'launch' | 'identity',
): Promise<void> {
  const { balances, [kind]: requirement } = await readRequirements(ctx, address)
  if (balances.lamports < requirement.required)
    throw underfunded({ asset: 'SOL', required: requirement.required, balance: balances.lamports }, address)
}

/** Every agent has a server wallet on Solana. */
export async function addressOf(db: Db | Tx, agentId: AgentId): Promise<string> {
  const address = await findWalletAddress(db, agentId, 'solana')
  assert(address !== undefined, `${agentId} has a server wallet`)
  return address
}

const pages = newestFirst('wallet-operations', idField('wop'))

/** The operations of the agent's wallet, newest first. */
export async function listWalletTransactions(
  ctx: Needs<'db'>,
  agentId: AgentId,
  actor: Actor,
  { limit, cursor }: PageRequest,
): Promise<{ readonly operations: WalletTransaction[]; readonly nextCursor: NextCursor }> {
  await requireSeller(ctx.db, agentId, actor, 'see its wallet')
  const after = pages.decode(cursor)
  const found = await findWalletTransactions(ctx.db, agentId, {
    limit: limit + 1,
    after: after && [after.createdAt, after.id],
  })
  const { rows, nextCursor } = pages.pageOf(found, limit)
  return { operations: await withHold(ctx, rows), nextCursor }
}

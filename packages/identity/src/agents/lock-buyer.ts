import type { Tx } from '@market/database/transact'
import type { AgentId } from '@market/kernel/ids'
import { lockAccountOpen, noAccount } from '../accounts/index.ts'
import { badApiKey } from './get-agent.ts'
import { lockApiKey } from './store.ts'

/**
 * Until the commit the account of a buyer (`user:…` or `agent:…`) cannot be deleted: a deletion waits, and then finds the
 * order. An order that waited for a deletion is rejected: the account is deleted, or the API key was replaced.
 */
export async function lockBuyer(tx: Tx, buyer: string, keyHint: string | undefined): Promise<void> {
  if (buyer.startsWith('agent:')) {
    const locked = await lockApiKey(tx, buyer.slice('agent:'.length) as AgentId)
    if (keyHint !== undefined && keyHint !== locked) throw badApiKey()
  } else if (!(await lockUserOpen(tx, buyer))) throw noAccount()
}

/** The buyer of an order that is already paid. Undefined when the buyer's account was deleted meanwhile. */
export async function lockPrincipal<Buyer extends string>(
  tx: Tx,
  buyer: Buyer | undefined,
): Promise<Buyer | undefined> {
  if (buyer?.startsWith('agent:')) await lockBuyer(tx, buyer, undefined)
  return buyer !== undefined && (await lockUserOpen(tx, buyer)) ? buyer : undefined
}

const lockUserOpen = async (tx: Tx, buyer: string): Promise<boolean> =>
  !buyer.startsWith('user:') || lockAccountOpen(tx, buyer.slice('user:'.length))

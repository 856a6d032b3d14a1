import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { createAgent, type Registration } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { fees, post } from '@market/money/ledger'
import { claimTransfer, escrowAccount, formatPurpose } from '@market/money/payments'
import { requestPayout, returnSurplus } from '@market/money/payouts'
import type { Purchase } from './purchase.ts'

/** What becomes an agent, in the words that are written down with its payment. */
export type Wanted = Omit<Registration, 'owner'>

type Paid = Pick<Purchase, 'id' | 'network' | 'request' | 'due'>

/** The fee is the platform's at once. Should the name be gone by now, the money goes back. */
export async function registerPaidAgent(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  { id, network, request, due }: Paid,
  seen: IncomingTransfer,
): Promise<string> {
  assert(seen.payer !== null, `${seen.reference} was paid by a wallet`)
  const purpose = { kind: 'registration', id } as const
  await claimTransfer(ctx, tx, { network, seen, purpose, due })
  const pot = escrowAccount(network, purpose)
  await returnSurplus(ctx, tx, { network, subject: id, due, purpose }, seen)
  const owner = { userId: null, wallet: seen.payer, twitterUsername: null }
  const agentId = await enrol(ctx, tx, request as unknown as Wanted, owner)
  if (agentId !== undefined) {
    const moves = [{ from: pot, to: fees(network), amount: due }]
    await post(ctx, tx, {
      key: feeKey(formatPurpose(purpose), seen.reference),
      reason: 'registration.fee',
      subject: id,
      network,
      moves,
    })
    return agentId
  }
  const refund = {
    network,
    kind: 'refund',
    subject: id,
    payee: seen.payer,
    amount: due,
    from: pot,
    purpose,
  } as const
  await requestPayout(ctx, tx, refund)
  return `refund:${id}`
}

const feeKey = (purpose: string, reference: string): string => `registration.fee:${purpose}:${reference}`

/** Undefined when the name was taken since it was asked for. */
async function enrol(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  wanted: Wanted,
  owner: Parameters<typeof createAgent>[3],
): Promise<string | undefined> {
  try {
    return (await createAgent(ctx, tx, wanted, owner)).agent.id
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'conflict') return undefined
    throw error
  }
}

import type { Needs } from '@market/core/context'
import type { IncomingTransfer } from '@market/core/ports/chain'
import type { Tx } from '@market/database/transact'
import { createAgent, type Registration } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { fees, post, surplus } from '@market/money/ledger'
import {
  type ClaimedTransfer,
  claimTransfer,
  escrowAccount,
  formatPurpose,
  transferName,
} from '@market/money/payments'
import { findPayoutOf, requestPayout, returnSurplus, withdrawPayout } from '@market/money/payouts'
import type { Purchase } from './purchase.ts'

/** The agent to register; stored with the payment. */
export type PaidAgent = Omit<Registration, 'owner'>

type Paid = Pick<Purchase, 'id' | 'network' | 'request' | 'due'>

/** Registers the agent and recognizes the fee. When the name was registered meanwhile, the payment is refunded. */
export async function registerPaidAgent(
  ctx: Needs<'clock' | 'ids' | 'chains' | 'vault'>,
  tx: Tx,
  { id, network, request, due }: Paid,
  seen: IncomingTransfer,
): Promise<string> {
  assert(seen.payer !== null, `${seen.reference} was paid by a wallet`)
  const purpose = { kind: 'registration', id } as const
  await claimTransfer(ctx, tx, { network, seen, purpose, due })
  const escrow = escrowAccount(network, purpose)
  await returnSurplus(ctx, tx, { network, subject: id, due, purpose }, seen)
  // A transfer proves the wallet on its own network only: a contract can have made it.
  const owner = { userId: null, wallet: seen.payer, provenBy: network, twitterUsername: null }
  const agentId = await createOrConflict(ctx, tx, request as unknown as PaidAgent, owner)
  if (agentId !== undefined) {
    const moves = [{ from: escrow, to: fees(network), amount: due }]
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
    from: escrow,
    purpose,
  } as const
  await requestPayout(ctx, tx, refund)
  return `refund:${id}`
}

const feeKey = (purpose: string, reference: string): string => `registration.fee:${purpose}:${reference}`

/** Undefined when another agent has the name. */
async function createOrConflict(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  wanted: PaidAgent,
  owner: Parameters<typeof createAgent>[3],
): Promise<string | undefined> {
  try {
    return (await createAgent(ctx, tx, wanted, owner)).agent.id
  } catch (error) {
    if (error instanceof ApiError && error.kind === 'conflict') return undefined
    throw error
  }
}

/** Reverses the fee of a payment that the chain dropped, or that its payer made for something else. */
export async function undoRegistration(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'registration'>,
): Promise<void> {
  const { purpose, network } = transfer
  const { id } = purpose
  const escrow = escrowAccount(network, purpose)
  await withdrawPayout(ctx, tx, {
    kind: 'surplus',
    subject: id,
    to: surplus(network, transferName(transfer)),
  })
  if ((await findPayoutOf(tx, 'refund', id)) !== undefined)
    return withdrawPayout(ctx, tx, { kind: 'refund', subject: id, to: escrow })
  await reverseFee(ctx, tx, transfer)
}

async function reverseFee(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'registration'>,
): Promise<void> {
  const { purpose, network, reference, due } = transfer
  const { id } = purpose
  const escrow = escrowAccount(network, purpose)
  await post(ctx, tx, {
    key: `registration.fee_undone:${formatPurpose(purpose)}:${reference}:${transfer.arrivedAt.getTime()}`,
    reason: 'registration.fee_undone',
    subject: id,
    network,
    moves: [{ from: fees(network), to: escrow, amount: due }],
  })
}

/** Refunds the fee to the wallet that paid. A surplus was returned before. */
export async function refundRegistration(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: ClaimedTransfer<'registration'>,
): Promise<void> {
  const { purpose, network, due, payer } = transfer
  await reverseFee(ctx, tx, transfer)
  await requestPayout(ctx, tx, {
    network,
    kind: 'refund',
    subject: purpose.id,
    payee: payer,
    amount: due,
    from: escrowAccount(network, purpose),
    purpose,
  })
}

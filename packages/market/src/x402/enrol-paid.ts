import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { minus } from '@market/kernel/money'
import { Refusal } from '@market/kernel/refusal'
import { enrolAgent, type Registration } from '../agents/index.ts'
import type { Needs } from '../context.ts'
import { escrow, fees, post, surplus } from '../ledger/index.ts'
import { claimTransfer, type Transfer } from '../payments/index.ts'
import { findPayoutOf, requestPayout, withdrawPayout } from '../payouts/index.ts'
import type { SeenTransfer } from '../ports/chain.ts'
import type { Hire } from './hire.ts'
import { REGISTRATION } from './quote.ts'

/** What becomes an agent, in the words that are written down with its payment. */
export type Wanted = Omit<Registration, 'owner'>

type Paid = Pick<Hire, 'id' | 'network' | 'request' | 'due'>

/** The fee is the platform's at once. Should the name be gone by now, the money goes back. */
export async function enrolPaid(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  { id, network, request, due }: Paid,
  seen: SeenTransfer,
): Promise<string> {
  assert(seen.payer !== null, `${seen.reference} was paid by a wallet`)
  const purpose = `${REGISTRATION}:${id}`
  await claimTransfer(ctx, tx, { network, seen, purpose, due })
  const pot = escrow(network, purpose)
  await returnSurplus(ctx, tx, { id, network, due, purpose }, seen)
  const owner = { userId: null, wallet: seen.payer, twitterUsername: null }
  const agentId = await enrol(ctx, tx, request as unknown as Wanted, owner)
  if (agentId !== undefined) {
    const moves = [{ from: pot, to: fees(network), amount: due }]
    await post(ctx, tx, {
      key: feeKey(purpose, seen.reference),
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

const WORTH_SENDING = 100_000n

/** What was paid too much goes back when it is more than sending it is worth. */
async function returnSurplus(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  { id, network, due, purpose }: Pick<Hire, 'id' | 'network' | 'due'> & { readonly purpose: string },
  { amount, payer, reference }: SeenTransfer,
): Promise<void> {
  const tooMuch = minus(amount, due)
  if (tooMuch <= WORTH_SENDING) return
  const from = surplus(network, reference)
  await requestPayout(ctx, tx, {
    network,
    kind: 'surplus',
    subject: id,
    payee: payer,
    amount: tooMuch,
    from,
    purpose,
  })
}

const feeKey = (purpose: string, reference: string): string => `registration.fee:${purpose}:${reference}`

/** Undefined when the name was taken since it was asked for. */
async function enrol(
  ctx: Needs<'clock' | 'ids' | 'vault'>,
  tx: Tx,
  wanted: Wanted,
  owner: Parameters<typeof enrolAgent>[3],
): Promise<string | undefined> {
  try {
    return (await enrolAgent(ctx, tx, wanted, owner)).agent.id
  } catch (error) {
    if (error instanceof Refusal && error.kind === 'conflict') return undefined
    throw error
  }
}

/** The chain took the fee back: it leaves where it went. Who owns the agent stays its owner. */
export async function undoRegistration(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: Transfer,
): Promise<void> {
  const { purpose, network, reference, due } = transfer
  if (!purpose.startsWith(`${REGISTRATION}:`)) return
  const id = purpose.slice(REGISTRATION.length + 1)
  const pot = escrow(network, purpose)
  await withdrawPayout(ctx, tx, { kind: 'surplus', subject: id, to: surplus(network, reference) })
  if ((await findPayoutOf(tx, 'refund', id)) !== undefined)
    return withdrawPayout(ctx, tx, { kind: 'refund', subject: id, to: pot })
  await post(ctx, tx, {
    key: `registration.fee_undone:${purpose}:${reference}:${transfer.arrivedAt.getTime()}`,
    reason: 'registration.fee_undone',
    subject: id,
    network,
    moves: [{ from: fees(network), to: pot, amount: due }],
  })
}

import type { Tx } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import { paysMarkOnce } from '@market/kernel/payout-mark'
import type { Transfer } from '../payments/index.ts'
import { findFundingTransfer } from './funding-transfer.ts'
import { findGuard, NO_EPOCH } from './guards/store.ts'
import type { Hold } from './hold.ts'
import type { Alive, Guard } from './outgoing/guard.ts'
import type { Payout } from './payout.ts'

type Paid = Pick<Transfer, 'block' | 'claimedAt'>

/** Whether what is alive can have been paid with this money. */
const isOld = (alive: Alive, { block }: Pick<Paid, 'block'>): boolean => block.height <= alive.height

/**
 * Whether a lost payout with another mark can have been signed for the same money. Of an order that was paid before, only a
 * refund takes the place of the payout that was lost. Its payout does so when the payment was claimed later, or when another
 * caller could still get it. Payouts without a payment have marks that a repeated decision does not repeat.
 */
export function replacesAnother(
  alive: Alive,
  { kind, notBefore }: Pick<Payout, 'kind' | 'notBefore'>,
  paid: Paid | undefined,
): boolean {
  if (paid !== undefined && !isOld(alive, paid)) return false
  // fix: replacement-waits
  if (kind !== 'payout') return true
  // fix: contestable-waits
  if (notBefore !== null) return true
  const claimedAt = paid?.claimedAt ?? null
  // fix: late-claim-waits
  return claimedAt !== null && claimedAt > alive.claimsKnownUntil
}

/** EVM: a payout waits while another one that the database has lost can still be paid with the same money. */
export async function aliveHold(tx: Tx, payout: Payout, guard: Guard | undefined): Promise<Hold | undefined> {
  const alive = guard?.alive ?? null
  if (alive === null || !replacesAnother(alive, payout, await findFundingTransfer(tx, payout)))
    return undefined
  return { code: 'authorization_alive', detail: `until ${alive.until.toISOString()}` }
}

/** EVM: whether a lost payout can still be paid. Also between the beginning of a database epoch and its first reading. */
export async function isAlive(tx: Tx, network: Network): Promise<boolean> {
  const guard = await findGuard(tx, network)
  return guard !== undefined && (guard.alive !== null || isUnread(guard))
}

const isUnread = ({ network, databaseEpoch, isCurrentEpoch }: Guard): boolean =>
  paysMarkOnce(network) && !isCurrentEpoch && databaseEpoch !== NO_EPOCH

/** Rejects a decision about who a payment is paid to, while a lost payout can still pay it to another. */
export async function rejectWhileAlive(tx: Tx, transfer: Transfer): Promise<void> {
  const guard = await findGuard(tx, transfer.network)
  if (guard === undefined) return
  if (isUnread(guard)) throw stillAlive(null)
  if (guard.alive !== null && isOld(guard.alive, transfer)) throw stillAlive(guard.alive.until.toISOString())
}

const stillAlive = (until: string | null): ApiError =>
  new ApiError(
    'conflict',
    `The database was restarted. A payout of this payment that it may have lost can still be executed${until === null ? '' : ` until ${until}`}. Nothing was changed. Try again ${until === null ? 'in a minute' : 'then'}.`,
    { code: 'authorization_alive', fields: { alive_until: until } },
  )

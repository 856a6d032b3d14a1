import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import { balanceOf, type Journal, post, statementOf, suspense } from '../ledger/index.ts'
import { formatPurpose } from './purpose.ts'
import { correctionJournal, keySuffix, subjectOf, type Transfer } from './transfer.ts'

const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** More than an order and a transfer ever have. */
const MAX_JOURNALS = 200

/** The row of the transfer is locked, so a key that was posted before is a bug. */
export async function postNew(ctx: Needs<'clock' | 'ids'>, tx: Tx, journal: Journal): Promise<void> {
  const { isNew } = await post(ctx, tx, journal)
  assert(isNew, `${journal.key} was posted before`)
}

export const balanceInSuspense = async (tx: Tx, { network, reference }: Transfer): Promise<Usdc> =>
  usdc(await balanceOf(tx, suspense(network, reference)))

/** How much the ledger recorded as received by this transfer, and in how many journals. */
export async function recordedAmount(
  tx: Tx,
  transfer: Transfer,
): Promise<{ micros: bigint; journals: number }> {
  const { reference, purpose } = transfer
  // The oldest journals of claimed transfers have the whole purpose as their subject.
  const subjects = new Set([
    reference,
    subjectOf(transfer),
    ...(purpose === null ? [] : [formatPurpose(purpose)]),
  ])
  let micros = 0n
  let journals = 0
  for (const subject of subjects) {
    const statement = await statementOf(tx, { subject }, { limit: MAX_JOURNALS })
    for (const { legs } of statement.journals.filter(({ key }) => key.endsWith(keySuffix(transfer)))) {
      journals++
      for (const leg of legs) if (leg.account.kind === 'world') micros -= leg.micros
    }
  }
  return { micros, journals }
}

/**
 * Posts the difference between the amount on the chain and the recorded amount to suspense. They differ when several
 * wallets paid in one transaction and one of them claimed its part, or after a reorganisation.
 */
export async function adjustRecorded(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: Transfer,
  amountOnChain: Usdc,
): Promise<void> {
  const { micros, journals } = await recordedAmount(tx, transfer)
  let change = amountOnChain - micros
  // A claimed part that is missing is reversed by the re-check, together with the claim.
  if (change < 0n) change = -smaller(-change, await balanceInSuspense(tx, transfer))
  if (change !== 0n) await postNew(ctx, tx, correctionJournal(transfer, change, journals))
}

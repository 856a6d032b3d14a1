import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { type Usdc, usdc } from '@market/kernel/money'
import { balanceOf, type Journal, post, statementOf, suspense } from '../ledger/index.ts'
import { correcting, keyEnd, subjectOf, type Transfer } from './transfer.ts'

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** More than an order and a transfer ever have. */
const JOURNALS = 200

/** The transfer's row is locked and says this has not happened: a key that was used all the same is a fault. */
export async function postNew(ctx: Needs<'clock' | 'ids'>, tx: Tx, journal: Journal): Promise<void> {
  const { isNew } = await post(ctx, tx, journal)
  assert(isNew, `${journal.key} was posted before`)
}

export const inSuspense = async (tx: Tx, { network, reference }: Transfer): Promise<Usdc> =>
  usdc(await balanceOf(tx, suspense(network, reference)))

/** What the books say came in by this transfer, wherever it went since, and in how many journals. */
export async function counted(tx: Tx, transfer: Transfer): Promise<{ micros: bigint; journals: number }> {
  // Journals of claimed transfers were once about the whole purpose; those that were written then still are.
  const { reference, purpose } = transfer
  const subjects = new Set([reference, ...(purpose === '' ? [] : [subjectOf(transfer), purpose])])
  let micros = 0n
  let journals = 0
  for (const subject of subjects) {
    const statement = await statementOf(tx, { subject }, { limit: JOURNALS })
    for (const { legs } of statement.journals.filter(({ key }) => key.endsWith(keyEnd(transfer)))) {
      journals++
      for (const leg of legs) if (leg.account.kind === 'world') micros -= leg.micros
    }
  }
  return { micros, journals }
}

/**
 * Several may pay in one transaction. A claim counts its payer's part, the watcher sees the whole: what is between
 * them goes into suspense. A transaction mined again elsewhere can bring less, too.
 */
export async function countWhole(
  ctx: Needs<'clock' | 'ids'>,
  tx: Tx,
  transfer: Transfer,
  whole: Usdc,
): Promise<void> {
  const { micros, journals } = await counted(tx, transfer)
  let change = whole - micros
  // What is claimed and no longer there is undone by the re-check, with the claim.
  if (change < 0n) change = -least(-change, await inSuspense(tx, transfer))
  if (change !== 0n) await postNew(ctx, tx, correcting(transfer, change, journals))
}

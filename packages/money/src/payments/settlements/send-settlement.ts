import type { Needs } from '@market/core/context'
import type { Facilitator, Settlement, SettlementTerms, SignedPayment } from '@market/core/ports/facilitator'
import { type Tx, transact } from '@market/database/transact'
import { findUnmined, type GasTransaction, lockFreeNonce, replaceBytes } from './store.ts'

const MAX_UNMINED = 50

/** Signs a buyer's payment. The caller stores it in the same transaction, so that no nonce is without its bytes. */
export async function signSettlement(
  tx: Tx,
  facilitator: Facilitator,
  payment: SignedPayment,
  terms: SettlementTerms,
): Promise<Settlement> {
  const { minedNonce } = terms
  const nonce = minedNonce === null ? null : await lockFreeNonce(tx, facilitator, minedNonce)
  return facilitator.sign(payment, terms, nonce)
}

/** The chain decides whether it arrived, even if sending it failed. */
export const sendSettlement = (
  facilitator: Facilitator,
  settlement: Pick<Settlement, 'bytes'>,
): Promise<void> => facilitator.send(settlement).catch(() => undefined)

/**
 * Signs a payment again whose nonce another transaction used. The token executes its authorization once. Undefined when it is not
 * possible now, or when another process did it.
 */
export async function signAgain(
  { db }: Needs<'db'>,
  facilitator: Facilitator,
  sent: Pick<GasTransaction, 'id' | 'bytes'>,
  payment: SignedPayment,
): Promise<Settlement | undefined> {
  try {
    const terms = await facilitator.readTerms()
    return await transact(db, async (tx) => {
      const again = await signSettlement(tx, facilitator, payment, terms)
      return (await replaceBytes(tx, sent, again)) ? again : undefined
    })
  } catch {
    // Without the gas key, or while nodes or the coin are missing. Whoever can does it; else the payment expires.
    return undefined
  }
}

/**
 * Sends the transactions of our gas accounts again until they are mined, even if the payment has ended: an unused nonce
 * blocks all later ones. One with too low a fee is replaced by one with a higher fee, which is stored before it is sent.
 */
export async function sendUnmined(ctx: Needs<'db' | 'facilitators'>): Promise<void> {
  const done = await Promise.allSettled(Object.values(ctx.facilitators).map((one) => sendUnminedOf(ctx, one)))
  const failures = done.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  if (failures.length > 0) throw new AggregateError(failures, 'Some settlements could not be submitted again')
}

async function sendUnminedOf({ db }: Needs<'db'>, facilitator: Facilitator): Promise<void> {
  const minedNonce = await facilitator.minedNonce()
  if (minedNonce === null) return
  const unmined = await findUnmined(db, facilitator, minedNonce, MAX_UNMINED)
  if (unmined.length === 0) return
  const terms = await facilitator.readTerms()
  const replaceIfTooLow = async (one: GasTransaction): Promise<Pick<Settlement, 'bytes'>> => {
    const better = await facilitator.replaceWithHigherFee(one.bytes, terms)
    if (better === undefined) return one
    const { gasAccount } = facilitator
    return (await replaceBytes(db, one, { ...better, gasAccount, nonce: one.nonce })) ? better : one
  }
  const failures: unknown[] = []
  for (const one of unmined) {
    const settlement = await replaceIfTooLow(one).catch((error: unknown) => {
      failures.push(error)
      return one
    })
    await sendSettlement(facilitator, settlement)
  }
  if (failures.length > 0)
    throw new AggregateError(failures, `${facilitator.network}: no settlement could be replaced`)
}

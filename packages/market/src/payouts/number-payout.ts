import type { Tx } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import type { Needs } from '../context.ts'
import type { Payout } from './payout.ts'
import { countExplained } from './sendings/store.ts'
import { findNonce, type NonceBook, saveNonce, savePayout } from './store.ts'

/**
 * A nonce belongs to its payout for a whole round, whoever signs it and however often. Only we give them out, so a
 * chain that counts more than we gave has seen payments our books do not know. Payments that were read from the chain
 * explain themselves; for any other, nothing leaves until a person has explained it.
 */
export async function numberPayout(
  ctx: Needs<'clock'>,
  tx: Tx,
  treasury: string,
  { id, network }: Payout,
  counted: bigint,
): Promise<Payout> {
  const book = (await findNonce(tx, network)) ?? { treasury, next: counted }
  assert(book.treasury === treasury, `${network} is paid from ${book.treasury}`)
  if (!(await isExplained(tx, network, book, counted))) {
    const reason = `The chain counts ${counted} payments of the treasury, the books ${book.next}`
    return savePayout(tx, id, { state: 'held', reason }, ctx.clock.now())
  }
  const nonce = counted > book.next ? counted : book.next
  await saveNonce(tx, network, { treasury, next: nonce + 1n })
  return savePayout(tx, id, { state: 'numbered', nonce }, ctx.clock.now())
}

const isExplained = async (
  tx: Tx,
  network: Payout['network'],
  { next }: NonceBook,
  counted: bigint,
): Promise<boolean> =>
  counted <= next || (await countExplained(tx, network, next, counted)) === counted - next

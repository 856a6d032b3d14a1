import type { Needs } from '@market/core/context'
import type { Tx } from '@market/database/transact'
import { earlier, SECOND } from '@market/kernel/clock'
import type { Usdc } from '@market/kernel/money'
import { requestPayout } from '@market/money/payouts'
import type { Pool } from '../pools/index.ts'
import { type Move, moveAccount } from './move.ts'
import { findNewest, insertMove } from './store.ts'

/** After a move, the other kind has this long to begin, so that neither deposits nor withdrawals wait for ever. */
const TURN_MS = 3 * SECOND

type Ctx = Needs<'clock' | 'ids'>

/** Whether the wallet of the pool's network can begin a move of this kind now. */
export async function mayBegin(
  { clock }: Needs<'clock'>,
  tx: Tx,
  { network }: Pool,
  kind: Move['kind'],
): Promise<boolean> {
  const { newest, isOpen } = await findNewest(tx, network)
  if (newest === undefined || isOpen) return newest === undefined
  return newest.kind !== kind || newest.updatedAt < earlier(clock.now(), TURN_MS)
}

/**
 * Begins to move money from the treasury to the venue. The payout to the wallet is requested with it. Returns undefined
 * while another move of the network is open.
 */
export async function requestDeploy(
  ctx: Ctx,
  tx: Tx,
  { key, network, wallet }: Pool,
  amount: Usdc,
): Promise<Move | undefined> {
  const id = ctx.ids.next('emv')
  const move = await insertMove(tx, { id, kind: 'deploy', poolKey: key, network, amount }, ctx.clock.now())
  if (move === undefined) return undefined
  await requestPayout(ctx, tx, {
    network,
    kind: 'move_to_venue',
    subject: id,
    payee: wallet,
    amount,
    from: moveAccount(move),
  })
  return move
}

/** Begins to move money from the venue to the treasury. Returns undefined while another move of the network is open. */
export const requestRecall = (
  ctx: Ctx,
  tx: Tx,
  { key, network }: Pool,
  amount: Usdc,
): Promise<Move | undefined> =>
  insertMove(tx, { id: ctx.ids.next('emv'), kind: 'recall', poolKey: key, network, amount }, ctx.clock.now())

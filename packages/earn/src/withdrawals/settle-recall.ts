import { type Tx, transact } from '@market/database/transact'
import { assert } from '@market/kernel/assert'
import { usdc, ZERO } from '@market/kernel/money'
import { postNew, withdrawal as withdrawalAccount } from '@market/money/ledger'
import { addRecalled, divide, type EarnContext, lockPool, unredeemed } from '../pools/index.ts'
import {
  findArrived,
  findRecall,
  lockVenueTransfer,
  saveVenueTransfer,
  type VenueTransfer,
} from '../venue-transfers/index.ts'
import { movesBetween } from './moves-between.ts'
import { deleteRecallParts, lockRecallParts, type RecallPart, savePaidPart } from './recalls/store.ts'
import { changeWithdrawal } from './store.ts'

/** Ends the newest recall of a pool: gives back what reverted, or shares what the vault paid among those it redeemed for. */
export async function settleRecall(ctx: EarnContext, key: string): Promise<void> {
  const recall = await findRecall(ctx.db, key)
  if (recall?.state !== 'failed' && recall?.state !== 'withdrawn') return
  await transact(ctx.db, async (tx) => {
    await lockPool(tx, key)
    const locked = await lockVenueTransfer(tx, recall.id)
    const parts = await lockRecallParts(tx, recall.id)
    if (locked.state === 'failed' && parts.length > 0) await returnShares(ctx, tx, locked, parts)
    if (locked.state === 'withdrawn') await pay(ctx, tx, locked, parts)
  })
}

const sum = (all: readonly bigint[]): bigint => all.reduce((total, one) => total + one, 0n)

/** It reverted: withdrawals and pool are as they were. */
async function returnShares(
  ctx: EarnContext,
  tx: Tx,
  { id, poolKey, askedShares }: VenueTransfer,
  parts: readonly RecallPart[],
): Promise<void> {
  for (const { withdrawalId, shares } of parts)
    await changeWithdrawal(tx, withdrawalId, { open: shares, recalled: -shares }, ctx.clock.now())
  await addRecalled(tx, poolKey, {
    vaultShares: askedShares ?? 0n,
    shares: sum(parts.map(({ shares }) => shares)),
  })
  await deleteRecallParts(tx, id)
}

/**
 * What the vault paid belongs to the withdrawals of the recall, by their shares in it: all of it, and nothing else. It is in the
 * treasury when its transfer is final there. What was not burned goes back to them as shares.
 */
async function pay(
  ctx: EarnContext,
  tx: Tx,
  recall: VenueTransfer,
  parts: readonly RecallPart[],
): Promise<void> {
  const { id, network, poolKey, reference, askedShares, venueShares } = recall
  const assets = recall.assets ?? ZERO
  assert(reference !== null && askedShares !== null, `${id} has a receipt`)
  const arrived = (await findArrived(tx, recall, reference)).filter(({ isFinal }) => isFinal)
  if (sum(arrived.map(({ amount }) => amount)) < assets) return
  const redeemed = venueShares ?? 0n
  const recalled = parts.map(({ shares }) => shares)
  const back = unredeemed(recalled, { asked: askedShares, redeemed })
  const burned = recalled.map((shares, n) => shares - (back[n] ?? 0n))
  const amounts = divide(assets, burned).map(usdc)
  const owed = parts.map(({ withdrawalId }, n) => ({
    account: withdrawalAccount(network, withdrawalId),
    amount: amounts[n] ?? ZERO,
  }))
  const moves = movesBetween(arrived, owed)
  if (moves.length > 0)
    await postNew(ctx, tx, {
      key: `earn.recalled:${id}`,
      reason: 'earn.recalled',
      subject: id,
      network,
      moves,
    })
  const now = ctx.clock.now()
  for (const [n, { withdrawalId, shares }] of parts.entries()) {
    const [amount, open] = [amounts[n] ?? ZERO, back[n] ?? 0n]
    await savePaidPart(tx, id, { withdrawalId, shares: shares - open }, amount)
    await changeWithdrawal(tx, withdrawalId, { open, recalled: -shares, paid: amount }, now)
  }
  const left = redeemed < askedShares ? askedShares - redeemed : 0n
  await addRecalled(tx, poolKey, { vaultShares: left, shares: sum(back) })
  await saveVenueTransfer(tx, recall, 'finish', {}, now)
}

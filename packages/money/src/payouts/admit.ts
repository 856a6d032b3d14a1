import type { PayoutSender } from '@market/core/ports/payout-sender'
import { payoutSwitches, rejectWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import type { Network } from '@market/kernel/network'
import { adopt } from './adopt.ts'
import { capReason, coverReason, earlyReason, finalReason } from './hold-reason.ts'
import { numberPayout } from './number-payout.ts'
import { isCompared, NOT_COMPARED, shutReason } from './outgoing/guard.ts'
import { findGate } from './outgoing/store.ts'
import { isWaiting, type Payout } from './payout.ts'
import type { PayoutContext } from './payout-senders.ts'
import { findNonce, lockNetwork, lockPayout, savePayout } from './store.ts'

/**
 * Lets a payout through or holds it: gate, freeze, caps, cover and nonce are one decision of one transaction. Whoever
 * turned a freeze on and was answered can be sure that nothing is let through after that.
 */
export async function admit(ctx: PayoutContext, sender: PayoutSender, payout: Payout): Promise<Payout> {
  const { id, network } = payout
  const hasBook = (await findNonce(ctx.db, network)) !== undefined
  const [nonces, final, balance] = await Promise.all([
    sender.nonces(),
    hasBook ? null : sender.finalNonce(),
    sender.usdcBalance(),
  ])
  try {
    return await transact(ctx.db, async (tx) => {
      const locked = await lockPayout(tx, id)
      if (!isWaiting(locked)) return locked
      const holdFor = (reason: string) => savePayout(tx, id, { state: 'held', reason }, ctx.clock.now())
      await lockNetwork(tx, network)
      const gate = await findGate(tx, network, 'shared')
      if (!isCompared(gate)) return holdFor(NOT_COMPARED)
      // Nothing leaves by it, so neither a freeze nor a shortage stops it: it may be what explains the shortage.
      const adopted = await adopt(ctx, tx, locked)
      if (adopted !== undefined) return adopted
      await rejectWhileStopped(tx, payoutSwitches(network))
      const why =
        earlyReason(locked, ctx.clock.now()) ??
        (await finalReason(tx, locked)) ??
        shutReason(gate) ??
        (await capReason(ctx, tx, locked)) ??
        (await coverReason(tx, locked, balance))
      if (why !== undefined) return holdFor(why)
      return nonces === null
        ? savePayout(tx, id, { state: 'numbered' }, ctx.clock.now())
        : numberPayout(ctx, tx, locked, { gate, treasury: sender.treasury, counted: nonces.pending, final })
    })
  } catch (error) {
    const frozen = error instanceof ApiError ? frozenReason(network, error.extra.code) : undefined
    if (frozen === undefined) throw error
    return hold(ctx, payout, frozen)
  }
}

/** Of several switches that stop it, it tells the one it was told. */
function frozenReason(network: Network, code: string | undefined): string | undefined {
  const [all, own] = payoutSwitches(network)
  if (code === all) return 'Payouts are frozen'
  return code === own ? `Payouts on ${network} are frozen` : undefined
}

export async function hold(ctx: PayoutContext, payout: Payout, reason: string): Promise<Payout> {
  return transact(ctx.db, async (tx) => {
    const locked = await lockPayout(tx, payout.id)
    if (!isWaiting(locked)) return locked
    return savePayout(tx, payout.id, { state: 'held', reason }, ctx.clock.now())
  })
}

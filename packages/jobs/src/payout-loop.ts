import {
  type Authorize,
  advanceDue,
  duePayouts,
  PAYOUTS_AT_ONCE,
  type PayoutContext,
  type PayoutId,
  payoutAuthorizer,
} from '@market/money/payouts'

interface PayoutLog {
  warn(fields: object, message: string): void
}

type Network = keyof PayoutContext['payoutSenders']

const EVERY_MS = 500

/**
 * Advances due payouts on every network that this process has a treasury key for: those of one network concurrently, so that
 * a slow network does not delay the others. The database stores which payouts are
 * due; the loop only limits how many it advances at once.
 */
export function startPayoutLoop(ctx: PayoutContext, log: PayoutLog, onFailure: (name: string) => void) {
  const running = new Map<Network, Set<Promise<void>>>()
  const authorizers = new Map<Network, Authorize>()
  let stopping = false

  const reportFailure = (error: unknown, fields: object) => {
    onFailure('advance-payouts')
    log.warn({ err: error, ...fields }, 'a payout was not advanced')
  }
  const advance = async (id: PayoutId, authorize: Authorize | undefined) => {
    try {
      await advanceDue(ctx, id, authorize)
    } catch (error) {
      reportFailure(error, { payout_id: id })
    }
  }
  const filling = new Map<Network, Promise<void>>()
  /** Starts as many payouts as are free; again after one ends, because more may be due. */
  const fill = async (network: Network) => {
    const active = running.get(network) ?? new Set()
    running.set(network, active)
    const free = PAYOUTS_AT_ONCE - active.size
    if (stopping || free <= 0) return
    const ids = await duePayouts(ctx, network, free)
    for (const id of ids) {
      const work = advance(id, authorizers.get(network)).finally(() => {
        active.delete(work)
        if (ids.length === free) startFilling(network)
      })
      active.add(work)
    }
  }
  const startFilling = (network: Network) => {
    if (filling.has(network)) return
    const work = fill(network)
      .catch((error) => reportFailure(error, { network }))
      .finally(() => filling.delete(network))
    filling.set(network, work)
  }
  const tick = () => {
    for (const network of Object.keys(ctx.payoutSenders) as Network[]) startFilling(network)
  }
  for (const sender of Object.values(ctx.payoutSenders))
    authorizers.set(sender.network, payoutAuthorizer(ctx, sender))
  tick()
  const timer = setInterval(tick, EVERY_MS)
  return {
    stop: async () => {
      stopping = true
      clearInterval(timer)
      await Promise.all(filling.values())
      await Promise.all([...running.values()].flatMap((active) => [...active]))
    },
  }
}

import {
  type Authorize,
  advanceDue,
  duePayouts,
  PAYOUTS_AT_ONCE,
  type PayoutContext,
  type PayoutId,
  payoutAuthorizer,
  submitPayouts,
} from '@market/money/payouts'

interface PayoutLog {
  warn(fields: object, message: string): void
}

type Network = keyof PayoutContext['payoutSenders']

/**
 * Advances due payouts on every network that this process has a treasury key for: those of one network concurrently, so that
 * a slow network does not delay the others. The database stores which payouts are due and gives each to one worker. `run`
 * starts them and does not wait for their end, so that a slow payout does not delay those that are due later.
 */
export function payoutAdvancer(ctx: PayoutContext, log: PayoutLog, onFailure: (name: string) => void) {
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
  /** Payouts of a network that share it are authorized together. A network can be opened after the process has started. */
  const authorizerOf = (network: Network): Authorize | undefined => {
    const sender = ctx.payoutSenders[network]
    if (sender === undefined) return undefined
    const authorize = authorizers.get(network) ?? payoutAuthorizer(ctx, sender)
    authorizers.set(network, authorize)
    return authorize
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
      const work = advance(id, authorizerOf(network)).finally(() => {
        active.delete(work)
        if (ids.length === free) void startFilling(network)
      })
      active.add(work)
    }
  }
  const startFilling = (network: Network): Promise<void> => {
    const known = filling.get(network)
    if (known !== undefined) return known
    const work = fill(network)
      .catch((error) => reportFailure(error, { network }))
      .finally(() => filling.delete(network))
    filling.set(network, work)
    return work
  }
  return {
    run: () => Promise.all((Object.keys(ctx.payoutSenders) as Network[]).map(startFilling)),
    /** Waits for the nodes, so that no other worker sends from the same gas accounts meanwhile. */
    submit: () =>
      Promise.all(
        Object.values(ctx.payoutSenders).map((sender) =>
          submitPayouts(ctx, sender).catch((error: unknown) => {
            onFailure('submit-payouts')
            log.warn({ err: error, network: sender.network }, 'payouts were not submitted')
          }),
        ),
      ),
    /** Starts no more payouts and waits for those that run. */
    stop: async () => {
      stopping = true
      await Promise.all(filling.values())
      await Promise.all([...running.values()].flatMap((active) => [...active]))
    },
  }
}

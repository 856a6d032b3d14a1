import { advanceDue, duePayouts, type PayoutContext, type PayoutId } from '@market/money/payouts'

interface PayOutLog {
  warn(fields: object, message: string): void
}

type Network = keyof PayoutContext['payoutSenders']

const EVERY_MS = 500
/** Steps at once, per network: a network whose nodes hang keeps the others waiting for nothing. */
const LANES = 8

/**
 * Advances the payouts that are due, on every network this process can pay on. What is due is in the database; here is
 * only how many steps are under way.
 */
export function startPayingOut(ctx: PayoutContext, log: PayOutLog, onFailure: (name: string) => void) {
  const running = new Map<Network, Set<Promise<void>>>()
  let stopping = false

  const trouble = (error: unknown, fields: object) => {
    onFailure('pay-out')
    log.warn({ err: error, ...fields }, 'a payout was not advanced')
  }
  const step = async (id: PayoutId) => {
    try {
      await advanceDue(ctx, id)
    } catch (error) {
      trouble(error, { payout_id: id })
    }
  }
  const looking = new Map<Network, Promise<void>>()
  /** As many as there are lanes free; and again when one ends, for more may be due. */
  const fill = async (network: Network) => {
    const steps = running.get(network) ?? new Set()
    running.set(network, steps)
    const free = LANES - steps.size
    if (stopping || free <= 0) return
    const ids = await duePayouts(ctx, network, free)
    for (const id of ids) {
      const work = step(id).finally(() => {
        steps.delete(work)
        if (ids.length === free) look(network)
      })
      steps.add(work)
    }
  }
  const look = (network: Network) => {
    if (looking.has(network)) return
    const work = fill(network)
      .catch((error) => trouble(error, { network }))
      .finally(() => looking.delete(network))
    looking.set(network, work)
  }
  const tick = () => {
    for (const network of Object.keys(ctx.payoutSenders) as Network[]) look(network)
  }
  tick()
  const timer = setInterval(tick, EVERY_MS)
  return {
    stop: async () => {
      stopping = true
      clearInterval(timer)
      await Promise.all(looking.values())
      await Promise.all([...running.values()].flatMap((steps) => [...steps]))
    },
  }
}

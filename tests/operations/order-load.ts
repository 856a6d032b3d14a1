import type { JourneyWorld } from '../journeys/order-journeys.ts'

/** Whole orders one after another on a few connections: created, paid on the chain, delivered, approved, paid out. */
export function startOrderLoad(world: JourneyWorld, clients: number) {
  const errors: unknown[] = []
  let completed = 0
  let stopping = false
  const client = async () => {
    while (!stopping && errors.length === 0) {
      try {
        const order = await world.begin('base-mainnet')
        await order.pay()
        await order.deliver()
        await order.byBuyer('approve')
        await order.earned(22_500_000n)
        completed++
      } catch (error) {
        errors.push(error)
      }
    }
  }
  const running = Array.from({ length: clients }, client)
  return {
    completed: () => completed,
    errors: (): readonly unknown[] => errors,
    /** Lets running orders end. */
    stop: async () => {
      stopping = true
      await Promise.all(running)
    },
  }
}

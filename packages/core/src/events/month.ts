const AHEAD = 2

/** The first days of this month and of those to come, in UTC. */
export const monthsAround = (now: Date): Date[] =>
  Array.from(
    { length: AHEAD + 1 },
    (_, n) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + n, 1)),
  )

/** `202601`, as partitions are named. */
export const nameOfMonth = (at: Date): string => at.toISOString().slice(0, 7).replace('-', '')

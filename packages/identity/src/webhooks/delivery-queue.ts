import { SECOND } from '@market/kernel/clock'

/** Concurrent requests to one agent's endpoint. */
export const MAX_CONCURRENT = 8

/** Longer than a round of attempts can take, so that only the lease of a dead worker expires. */
export const LEASE_MS = 15 * SECOND

/** A lease older than this is renewed before a round, so that it does not expire during the longest round. */
export const RENEW_AFTER_MS = 3 * SECOND

/**
 * An attempt to an endpoint whose last attempts failed starts when the previous one has ended, or after this time.
 * Eight at once would take processor time from the first attempts to other endpoints.
 */
export const SPREAD_MS = 150

/** After this many rounds the job ends and is enqueued again, so that a busy agent does not occupy a worker slot. */
export const MAX_ROUNDS = 50

/** How many new events become deliveries in one statement. */
export const EVENTS_PER_ROUND = 200

/** How long a delivery to an unproven endpoint waits for the attempts of others to end. */
export const BUSY_MS = 2 * SECOND

import { SECOND } from '@market/kernel/clock'

/** At most so many requests to one agent's endpoint at once. */
export const ABREAST = 8

/** Longer than a round of attempts can take, so that only a dead carrier's hold runs out. */
export const HOLD_MS = 15 * SECOND

/** A hold older than this is renewed before a round; with the longest round it is still far from running out. */
export const RENEW_MS = 3 * SECOND

/**
 * An attempt to an endpoint whose last attempts failed starts when the one before it has ended, or after this time.
 * Eight at once would take processor time from the first attempts to other endpoints.
 */
export const SPREAD_MS = 150

/** So many rounds, then the lane is left to the next job: a busy agent does not keep a slot for ever. */
export const ROUNDS = 50

/** How many new events become deliveries in one step. */
export const INTAKE = 200

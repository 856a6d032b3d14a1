import { HOUR, SECOND } from '@market/kernel/clock'

/** How long an answer is kept for its key. */
export const KEPT_MS = 24 * HOUR

/** Longer than a request may take (15 s), so that only a dead taker's lease runs out. */
export const LEASE_MS = 20 * SECOND

/** What names a keyed request: whose key, and the key. */
export interface RequestName {
  readonly scope: string
  readonly key: string
}

/** What a keyed request is: its name, which operation, and the fingerprint of all it asks. */
export interface RequestKey extends RequestName {
  readonly operation: string
  readonly fingerprint: Buffer
}

/** The right to answer for a key, until another takes over a lease that ran out. */
export interface Lease {
  readonly request: RequestKey
  readonly attempt: number
}

export interface StoredResponse {
  readonly status: number
  readonly body: unknown
}

export const placeOf = (request: RequestName) => ({
  row: `requests:${request.scope}:${request.key}`,
  field: 'answer',
})

import { HOUR, SECOND } from '@market/kernel/clock'
import type { SealContext } from '../ports/vault.ts'

/** How long a response is stored for its key. */
export const RETENTION_MS = 24 * HOUR

/** Longer than a request may take (15 s), so that only the lease of a crashed process expires. */
export const LEASE_MS = 20 * SECOND

/** The primary key: the caller and their Idempotency-Key. */
export interface RequestName {
  readonly scope: string
  readonly key: string
}

export interface RequestKey extends RequestName {
  readonly operation: string
  /** The hash of everything the request contains. */
  readonly fingerprint: Buffer
}

/** The right to execute the request with this key. After it expired, a repeated request gets the next attempt. */
export interface Lease {
  readonly request: RequestKey
  readonly attempt: number
}

export interface StoredResponse {
  readonly status: number
  readonly body: unknown
}

/** Stored responses are bound to these strings: changing them makes the stored ones unreadable. */
export const placeOf = (request: RequestName): SealContext => ({
  row: `requests:${request.scope}:${request.key}`,
  field: 'response',
})

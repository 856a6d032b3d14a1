import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Branded id types, so that the compiler rejects an agent id where a user id is expected. */
export type AgentId = `agt_${string}`
export type ListingId = `svc_${string}`
export type OrderId = `ord_${string}`
export type UploadId = `upl_${string}`
export type BountyId = `bnty_${string}`
export type ClaimId = `bcl_${string}`
export type SwapId = `swp_${string}`

export interface IdSource {
  next<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}`
}

/** The cell in which an id was created: the first character of its suffix. Requests can be routed by it. */
export type Cell = string

const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 16

/** `<prefix>_<unix ms>_<cell><16 random base36>`: 82 random bits, so an id cannot be guessed. */
export function idSource(clock: Clock, cell: Cell = '0'): IdSource {
  if (!/^[0-9a-z]$/.test(cell)) throw new RangeError(`cell must be one base36 character, not "${cell}"`)
  return { next: (prefix) => `${prefix}_${clock.now().getTime()}_${cell}${randomBase36(RANDOM_LENGTH)}` }
}

export const cellOf = (id: string): Cell | undefined => /^[a-z]+_\d+_([0-9a-z])[0-9a-z]+$/.exec(id)?.[1]

/** Discards bytes above the last multiple of 36, so that all characters are equally likely. */
function randomBase36(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 252 && text.length < length) text += BASE36[byte % 36]
    }
  }
  return text
}

import { randomBytes } from 'node:crypto'
import type { Clock } from './clock.ts'

/** Every id wears its kind, so the compiler rejects an agent id where a user's is due. */
export type AgentId = `agt_${string}`
export type ListingId = `svc_${string}`
export type OrderId = `ord_${string}`

export interface IdSource {
  next<Prefix extends string>(prefix: Prefix): `${Prefix}_${string}`
}

/** The cell an id was born in: the first character of its suffix, so that a router can send a request by id. */
export type Cell = string

const BASE36 = '0123456789abcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 16

/** `<prefix>_<unix ms>_<cell><16 random base36>`: 82 random bits, so an id cannot be guessed. */
export function idSource(clock: Clock, cell: Cell = '0'): IdSource {
  if (!/^[0-9a-z]$/.test(cell)) throw new RangeError(`A cell is one base36 character, not "${cell}"`)
  return { next: (prefix) => `${prefix}_${clock.now().getTime()}_${cell}${randomBase36(RANDOM_LENGTH)}` }
}

export const cellOf = (id: string): Cell | undefined => /^[a-z]+_\d+_([0-9a-z])[0-9a-z]+$/.exec(id)?.[1]

/** Bytes above the last whole multiple of 36 are thrown away, so that no letter is likelier than another. */
function randomBase36(length: number): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 252 && text.length < length) text += BASE36[byte % 36]
    }
  }
  return text
}

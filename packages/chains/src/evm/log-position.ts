import { assert } from '@market/kernel/assert'

/** How far the logs have been read: up to and including this log of this block. */
export interface LogPosition {
  readonly height: bigint
  readonly hash: string
  /** The last log that was read in the block. Undefined when the whole block was read. */
  readonly index: bigint | undefined
}

const POSITION = /^(\d{1,20}):(0x[0-9a-f]{64})(?::(\d{1,20}))?$/

export const formatPosition = ({ height, hash, index }: LogPosition): string =>
  `${height}:${hash}${index === undefined ? '' : `:${index}`}`

export const parsePosition = (text: string): LogPosition => {
  const [, height, hash, index] = POSITION.exec(text) ?? []
  assert(height !== undefined && hash !== undefined, `${text} is not a log position`)
  return { height: BigInt(height), hash, index: index === undefined ? undefined : BigInt(index) }
}

import { assert } from '@market/kernel/assert'

/** How far the logs have been read: up to and including this log of this block. */
export interface LogPosition {
  readonly height: bigint
  readonly hash: string
  /** The last log that was read in the block. Undefined when the whole block was read. */
  readonly index: bigint | undefined
  /** The lowest block that was not final at that time. */
  readonly firstNonFinal: bigint
}

/** Nothing is confirmed yet. Equivalent to no position. */
const START = 'start'

const POSITION = /^(\d{1,20}):(0x[0-9a-f]{64})(?::(\d{1,20}))?~(\d{1,20})$/

export const formatPosition = (position: LogPosition | undefined): string => {
  if (position === undefined) return START
  const { height, hash, index, firstNonFinal } = position
  return `${height}:${hash}${index === undefined ? '' : `:${index}`}~${firstNonFinal}`
}

export const parsePosition = (text: string | undefined): LogPosition | undefined => {
  if (text === undefined || text === START) return undefined
  const [, height, hash, index, firstNonFinal] = POSITION.exec(text) ?? []
  assert(
    height !== undefined && hash !== undefined && firstNonFinal !== undefined,
    `${text} is not a log position`,
  )
  return {
    height: BigInt(height),
    hash,
    index: index === undefined ? undefined : BigInt(index),
    firstNonFinal: BigInt(firstNonFinal),
  }
}

import { assert } from '@market/kernel/assert'

/** How far the treasury has been read: everything up to this log of this block, which had this hash. */
export interface WatchPosition {
  readonly height: bigint
  readonly hash: string
  /** The last log read in the block; undefined when the whole block was. */
  readonly index: bigint | undefined
  /** The lowest block that was not final when this was read; undefined in positions of before this was written down. */
  readonly open: bigint | undefined
}

/** Before anything was confirmed: the same as no position at all. */
const START = 'start'

const POSITION = /^(\d{1,20}):(0x[0-9a-f]{64})(?::(\d{1,20}))?(?:~(\d{1,20}))?$/

export const formatPosition = (position: WatchPosition | undefined): string => {
  if (position === undefined) return START
  const { height, hash, index, open } = position
  return `${height}:${hash}${index === undefined ? '' : `:${index}`}${open === undefined ? '' : `~${open}`}`
}

const numberIn = (text: string | undefined): bigint | undefined =>
  text === undefined ? undefined : BigInt(text)

export const parsePosition = (text: string | undefined): WatchPosition | undefined => {
  if (text === undefined || text === START) return undefined
  const [, height, hash, index, open] = POSITION.exec(text) ?? []
  assert(height !== undefined && hash !== undefined, `${text} is not a position of the watch`)
  return { height: BigInt(height), hash, index: numberIn(index), open: numberIn(open) }
}

import { ApiError } from '@market/kernel/api-error'

interface Position {
  readonly createdAt: Date
  readonly id: string
}

export const writeCursor = ({ createdAt, id }: Position): string => `${createdAt.getTime()}.${id}`

/** A cursor comes from outside: a forged one is rejected, never believed. */
export function readCursor(cursor: string | undefined): Position | undefined {
  if (cursor === undefined) return undefined
  const [, time, id] = /^(\d{1,14})\.(ord_\d{1,15}_[0-9a-z]{17})$/.exec(cursor) ?? []
  if (time === undefined || id === undefined)
    throw new ApiError('invalid', 'This cursor is not one of ours. Start again without it.', {
      details: [{ path: 'cursor', message: 'must be the next_cursor of the page before' }],
    })
  return { createdAt: new Date(Number(time)), id }
}

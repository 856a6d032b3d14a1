/** When a run that must end begins nothing long any more, in seconds since 1970. */
const LAST_BEGINNING = Number(process.env['LAST_BEGINNING'] ?? Number.POSITIVE_INFINITY)

export const TIME_IS_OVER = 'This machine is so slow that the run would not end in time'

/** Asked by what is played many times with other dice. The first is always played. */
export const isTimeOver = (isFirst: boolean): boolean => !isFirst && Date.now() / 1_000 > LAST_BEGINNING

/** Why the work ends early. */
export class Interruption extends Error {
  override readonly name = 'Interruption'
  /** What the shell reports for a program that the same signal ended. */
  readonly status: number

  constructor(status: number) {
    super('The command was interrupted.')
    this.status = status
  }
}

const CTRL_C_STATUS = 130

export const statusOf = ({ reason }: AbortSignal): number =>
  reason instanceof Interruption ? reason.status : CTRL_C_STATUS

/** The result of the work, or the reason of the signal as soon as it is aborted. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const ended = new AbortController()
  const aborted = new Promise<never>((_, reject) => {
    const onAbort = () => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { signal: ended.signal })
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    ended.abort()
  }
}

import type { IncomingFile } from '@market/handlers/call'
import { ApiError } from '@market/kernel/api-error'

const RETRY_SECONDS = 5
const DEFAULT_MAX = 100
const MAX_PER_CALLER = 5

/** Limits how many files are received at the same time. A slot is taken when a file is first read, by a known caller. */
export function uploadSlots(max = DEFAULT_MAX) {
  const used = new Map<string, number>()
  let all = 0
  return (file: IncomingFile, callerOf: () => string) => {
    let takenBy: string | undefined
    return {
      file: {
        receive: async () => {
          const caller = callerOf()
          const own = used.get(caller) ?? 0
          if (own >= MAX_PER_CALLER) throw tooManyUploads(`You are uploading ${own} files, the maximum.`)
          if (all >= max) throw tooManyUploads('Too many files are being uploaded.')
          used.set(caller, own + 1)
          all++
          takenBy = caller
          return file.receive()
        },
      },
      end: () => {
        if (takenBy === undefined) return
        const left = (used.get(takenBy) ?? 1) - 1
        if (left === 0) used.delete(takenBy)
        else used.set(takenBy, left)
        all--
        takenBy = undefined
      },
    }
  }
}

const tooManyUploads = (why: string): ApiError =>
  new ApiError('unavailable', `${why} Try again in a few seconds.`, {
    code: 'too_many_uploads',
    retryAfterSeconds: RETRY_SECONDS,
  })

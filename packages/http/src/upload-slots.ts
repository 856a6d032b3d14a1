import type { IncomingFile } from '@market/handlers/call'
import { ApiError } from '@market/kernel/api-error'

const RETRY_SECONDS = 5
const DEFAULT_MAX = 100

/** Limits how many files are received at the same time. A slot is taken when a file is first read, by a known caller. */
export function uploadSlots(max = DEFAULT_MAX) {
  let used = 0
  return (file: IncomingFile) => {
    let isTaken = false
    return {
      file: {
        receive: async () => {
          if (used >= max) throw tooManyUploads()
          used++
          isTaken = true
          return file.receive()
        },
      },
      end: () => {
        if (isTaken) used--
        isTaken = false
      },
    }
  }
}

const tooManyUploads = (): ApiError =>
  new ApiError('unavailable', 'Too many files are being uploaded. Try again in a few seconds.', {
    code: 'too_many_uploads',
    retryAfterSeconds: RETRY_SECONDS,
  })

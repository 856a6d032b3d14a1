import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Busboy, type BusboyConfig, type BusboyInstance } from '@fastify/busboy'
import type { FileField } from '@market/contract/define'
import type { IncomingFile } from '@market/handlers/call'
import { ApiError } from '@market/kernel/api-error'
import { MINUTE, SECOND } from '@market/kernel/clock'

/** A sender must keep up with this rate, on average and after the first seconds. */
const MIN_BYTES_PER_MS = (32 * 1024) / SECOND
const GRACE_MS = 10 * SECOND
const MAX_MS = 10 * MINUTE

const LIMITS: BusboyConfig['limits'] = {
  parts: 1,
  files: 1,
  fields: 0,
  headerPairs: 20,
  headerSize: 8 * 1024,
}

/** The file of a form, in the field `field`. The request is not read before `receive`. */
export const formFile = (request: IncomingMessage, field: FileField): IncomingFile => ({
  receive: async () => {
    const form = openForm(request)
    const name = await form.untilFile(field.name)
    return { name, bytes: form.bytes() }
  },
})

/** Reads a form up to its only file, and then the file. Any other content is an error. */
function openForm(request: IncomingMessage) {
  const parser = parserOf(request)
  const found = Promise.withResolvers<{ field: string; name: string; file: Readable }>()
  const ended = Promise.withResolvers<void>()
  let file: Readable | undefined
  const fail = (error: ApiError) => {
    found.reject(error)
    ended.reject(error)
    file?.destroy(error)
  }
  // The caller awaits one of them at a time.
  for (const { promise } of [found, ended]) promise.catch(() => {})

  parser.on('file', (field, stream, name: string | undefined) => {
    file = stream
    // The error reaches the reader of the file; without a listener it would end the process.
    stream.on('error', () => {})
    found.resolve({ field, name: name ?? '', file: stream })
  })
  for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.once(event, () => fail(badForm('The form has other fields. Send only the file.')))
  parser.on('error', () => fail(badForm('The form could not be read. It may have been cut off.')))
  parser.once('finish', () => {
    found.reject(noFile())
    ended.resolve()
  })
  request.on('error', () => fail(cutOff()))
  request.once('close', () => {
    if (!request.complete) fail(cutOff())
  })
  const sender = senderTime()
  request.pipe(parser)
  const stop = () => {
    request.unpipe(parser)
    request.pause()
  }

  return {
    /** The name of the file. */
    async untilFile(wanted: string): Promise<string> {
      try {
        const { field, name } = await sender.wait(found.promise)
        if (field !== wanted)
          throw badForm(`The file is in another field. Send it in the field \`${wanted}\`.`)
        return name
      } catch (error) {
        stop()
        throw error
      }
    },
    /** The file, and then the rest of the form: only a form that ends as it should has a file. */
    async *bytes(): AsyncGenerator<Uint8Array> {
      try {
        const parts = (await found.promise).file[Symbol.asyncIterator]()
        for (;;) {
          const step = await sender.wait(parts.next() as Promise<IteratorResult<Buffer>>)
          if (step.done === true) break
          sender.count(step.value.length)
          yield step.value
        }
        await sender.wait(ended.promise)
      } finally {
        stop()
        file?.destroy()
      }
    },
  }
}

/** Counts the time in which the sender lets us wait. The time that the storage needs is not the sender's fault. */
function senderTime() {
  const startedAt = performance.now()
  let waitedMs = 0
  let bytes = 0
  return {
    count: (length: number) => {
      bytes += length
    },
    async wait<T>(next: Promise<T>): Promise<T> {
      const since = performance.now()
      const leftMs = Math.min(GRACE_MS + bytes / MIN_BYTES_PER_MS - waitedMs, MAX_MS - (since - startedAt))
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => late.reject(tooSlow()), Math.max(leftMs, 0))
      next.catch(() => {})
      try {
        return await Promise.race([next, late.promise])
      } finally {
        clearTimeout(timer)
        waitedMs += performance.now() - since
      }
    },
  }
}

function parserOf({ headers }: IncomingMessage): BusboyInstance {
  const type = headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*(;|$)/i.test(type))
    throw new ApiError('unsupported_media', 'Send the file as multipart/form-data in the field `file`.')
  try {
    return new Busboy({ headers: { ...headers, 'content-type': type }, limits: LIMITS, preservePath: true })
  } catch {
    throw badForm('The Content-Type of the form has no boundary.')
  }
}

const badForm = (message: string): ApiError => new ApiError('invalid', message, { code: 'bad_form' })

const noFile = (): ApiError =>
  new ApiError('invalid', 'The form has no file. Send it in the field `file` with a file name.', {
    code: 'file_missing',
  })

const cutOff = (): ApiError =>
  new ApiError('invalid', 'The connection ended before the file did. Send it again.', { code: 'bad_form' })

const tooSlow = (): ApiError =>
  new ApiError('too_slow', 'The upload was too slow: at least 32 KB/s, and at most 10 minutes in all.', {
    code: 'upload_too_slow',
  })

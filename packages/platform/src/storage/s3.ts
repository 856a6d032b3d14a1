import { Readable } from 'node:stream'
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, S3Client } from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { ByteRange, ObjectStore } from '@market/core/ports/object-store'
import { ApiError } from '@market/kernel/api-error'
import { NodeHttpHandler } from '@smithy/node-http-handler'

export interface S3Settings {
  /** Of any server with the S3 API; without it, AWS in `region`. */
  readonly endpoint?: string | undefined
  readonly region: string
  readonly bucket: string
  /** Without them, those that the environment of AWS gives to the process. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined
  /** Multiplies the timeouts, for slow machines. */
  readonly timeoutFactor: number
}

const CONNECT_MS = 1_000
/** For one request: a part of an upload, or the time until a download begins. Two attempts end within six seconds. */
const REQUEST_MS = 3_000
const ATTEMPTS = 2
/** The smallest that S3 allows, because one part of each upload is in memory. */
const PART_BYTES = 5 * 1024 * 1024
/** Uploads and downloads at the same time. */
const MAX_CONNECTIONS = 500

/** Files in a bucket of any server with the S3 API. */
export function s3Store(settings: S3Settings): ObjectStore {
  const { bucket, timeoutFactor } = settings
  const requestTimeout = REQUEST_MS * timeoutFactor
  const client = new S3Client({
    region: settings.region,
    ...(settings.endpoint !== undefined && { endpoint: settings.endpoint, forcePathStyle: true }),
    ...(settings.credentials && { credentials: settings.credentials }),
    maxAttempts: ATTEMPTS,
    // Other servers than AWS do not know its newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS * timeoutFactor,
      requestTimeout,
      throwOnRequestTimeout: true,
      socketTimeout: requestTimeout,
      httpAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
      httpsAgent: { keepAlive: true, maxSockets: MAX_CONNECTIONS },
    }),
  })
  // Hashing a part at once would stop all other requests for its time. TLS protects the bytes on their way.
  client.middlewareStack.add(
    (next) => (args) => {
      const { headers } = args.request as { readonly headers: Record<string, string> }
      headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      return next(args)
    },
    { step: 'build', name: 'unsignedPayload' },
  )
  const named = (key: string) => ({ Bucket: bucket, Key: key })

  return {
    async put(key, bytes) {
      const source = remembering(bytes)
      const upload = new Upload({
        client,
        // The type is in our database. A bucket that is opened by mistake must not serve pages.
        params: {
          ...named(key),
          Body: Readable.from(source.bytes, { highWaterMark: 1 }),
          ContentType: 'application/octet-stream',
          ContentDisposition: 'attachment',
        },
        partSize: PART_BYTES,
        queueSize: 1,
      })
      await upload.done().catch((error: unknown) => {
        throw source.failure() ?? storageUnavailable(error)
      })
    },
    async get(key, range) {
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...named(key), ...rangeOf(range) }))
        return Body as Readable | undefined
      } catch (error) {
        if (error instanceof NoSuchKey) return undefined
        throw storageUnavailable(error)
      }
    },
    async delete(key) {
      await client.send(new DeleteObjectCommand(named(key))).catch((error: unknown) => {
        throw storageUnavailable(error)
      })
    },
  }
}

/** For a program without a bucket. */
export function noStorage(): ObjectStore {
  const reject = () => Promise.reject(storageUnavailable(new Error('S3_BUCKET is not set')))
  return { put: reject, get: reject, delete: reject }
}

const rangeOf = (range: ByteRange | undefined) => range && { Range: `bytes=${range.start}-${range.end}` }

/** Remembers the error of the sender, which is not a fault of the storage. */
function remembering(bytes: AsyncIterable<Uint8Array>) {
  let failure: unknown
  async function* pass() {
    const parts = bytes[Symbol.asyncIterator]()
    const next = () =>
      parts.next().catch((error: unknown) => {
        failure = error
        throw error
      })
    try {
      for (let step = await next(); step.done !== true; step = await next()) yield step.value
    } finally {
      await parts.return?.()
    }
  }
  return { bytes: pass(), failure: () => failure }
}

function storageUnavailable(cause: unknown): ApiError {
  const error = new ApiError('unavailable', 'The storage of files does not respond. Try again in a moment.', {
    code: 'storage_unavailable',
    retryAfterSeconds: 5,
  })
  error.cause = cause
  return error
}

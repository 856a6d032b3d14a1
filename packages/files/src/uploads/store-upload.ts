import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { rejectWhileStopped } from '@market/core/switches'
import { transact } from '@market/database/transact'
import { ApiError } from '@market/kernel/api-error'
import { DAY, later, SECOND } from '@market/kernel/clock'
import type { UploadId } from '@market/kernel/ids'
import { addToTotals, findTotals, insertPending, removeUpload, saveStored, type Totals } from './store.ts'
import {
  ALLOWED,
  cleanFileName,
  type FileOwner,
  HEAD_BYTES,
  MAX_FILE_BYTES,
  type MediaType,
  mediaTypeOf,
  textChecker,
  type Upload,
} from './upload.ts'

/** A file that is being received. */
export interface ReceivedFile {
  readonly name: string
  readonly bytes: AsyncIterable<Uint8Array>
}

/** What one owner may upload in a day in UTC. */
export interface UploadQuota {
  readonly files: number
  readonly bytes: number
  /** How to get more, for the message at its end. */
  readonly advice?: string
}

export type UploadContext = Needs<'db' | 'transact' | 'clock' | 'ids' | 'objects'>

/**
 * Stores a file while it arrives. Its row is written before its object: when this process ends in between, the sweep
 * finds the row and deletes both.
 */
export async function storeUpload(
  ctx: UploadContext,
  owner: FileOwner,
  file: ReceivedFile,
  quota: UploadQuota,
): Promise<Upload> {
  const { mediaType, bytes } = await recognize(file)
  const pending = {
    id: ctx.ids.next('upl') as UploadId,
    owner,
    fileName: cleanFileName(file.name, mediaType),
    mediaType,
    createdAt: ctx.clock.now(),
  }
  const day = dayOf(pending.createdAt)
  const { bytes: before } = await transact(ctx.db, async (tx) => {
    await rejectWhileStopped(tx, ['read_only'])
    const totals = await findTotals(tx, owner, day)
    rejectAtQuota(totals, quota, pending.createdAt)
    await insertPending(tx, pending)
    return totals
  })
  try {
    const measured = measure(bytes, mediaType, (size) => {
      // The rest of a file that is too large is not read.
      if (before + size > quota.bytes) throw quotaReached(quota, pending.createdAt)
    })
    await ctx.objects.put(objectKey(pending.id), measured.bytes)
    const { size, sha256 } = measured.result()
    return await ctx.transact(async (tx) => {
      rejectAboveQuota(await addToTotals(tx, owner, day, size), quota, pending.createdAt)
      if (!(await saveStored(tx, pending.id, { size, sha256 }))) throw tookTooLong()
      return { ...pending, size, sha256, isPrivate: null, usedFor: null }
    })
  } catch (error) {
    await discard(ctx, pending.id)
    throw error
  }
}

export const objectKey = (id: UploadId): string => `uploads/${id}`

/** Reads the file to its end without storing it, to compare it with one that was stored before. */
export async function readThrough(file: ReceivedFile): Promise<Pick<Upload, 'sha256' | 'size' | 'fileName'>> {
  const { mediaType, bytes } = await recognize(file)
  const measured = measure(bytes, mediaType)
  for await (const _part of measured.bytes);
  return { ...measured.result(), fileName: cleanFileName(file.name, mediaType) }
}

/** Reads as much as the type needs, and returns all bytes again. */
async function recognize(
  file: ReceivedFile,
): Promise<{ mediaType: MediaType; bytes: AsyncIterable<Uint8Array> }> {
  const parts = file.bytes[Symbol.asyncIterator]()
  const first: Uint8Array[] = []
  let length = 0
  while (length < HEAD_BYTES) {
    const { value, done } = await parts.next()
    if (done === true) break
    first.push(value)
    length += value.length
  }
  if (length === 0)
    throw new ApiError('invalid', 'The file is empty. Send a file with content.', { code: 'empty_file' })
  const mediaType = await mediaTypeOf(Buffer.concat(first).subarray(0, HEAD_BYTES), file.name)
  if (mediaType === undefined) throw unsupported(`The file is not one of these types: ${ALLOWED}.`)
  return { mediaType, bytes: joined(first, parts) }
}

async function* joined(first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>) {
  yield* first
  yield* { [Symbol.asyncIterator]: () => rest }
}

/** Passes the bytes on, and rejects them where they are too many or not the text that they should be. */
function measure(
  bytes: AsyncIterable<Uint8Array>,
  mediaType: MediaType,
  check: (size: number) => void = () => {},
) {
  const hash = createHash('sha256')
  const text = mediaType === 'text/plain' ? textChecker() : undefined
  let size = 0
  async function* pass() {
    for await (const part of bytes) {
      size += part.length
      if (size > MAX_FILE_BYTES) throw tooLarge()
      check(size)
      if (text?.accepts(part) === false) throw notText()
      hash.update(part)
      yield part
    }
    if (text?.endsWell() === false) throw notText()
  }
  return { bytes: pass(), result: () => ({ size, sha256: hash.copy().digest('hex') }) }
}

/** What this cannot delete, because the storage does not respond, the sweep deletes later. */
async function discard(ctx: UploadContext, id: UploadId): Promise<void> {
  try {
    await ctx.objects.delete(objectKey(id))
    await transact(ctx.db, (tx) => removeUpload(tx, id))
  } catch {}
}

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

function rejectAtQuota({ files, bytes }: Totals, quota: UploadQuota, now: Date): void {
  if (files >= quota.files || bytes >= quota.bytes) throw quotaReached(quota, now)
}

function rejectAboveQuota({ files, bytes }: Totals, quota: UploadQuota, now: Date): void {
  if (files > quota.files || bytes > quota.bytes) throw quotaReached(quota, now)
}

function quotaReached({ files, bytes, advice }: UploadQuota, now: Date): ApiError {
  const leftMs = DAY - (now.getTime() % DAY)
  return new ApiError(
    'rate_limited',
    `You can upload ${files} files and ${Math.floor(bytes / 1024 / 1024)} MB a day. Upload this file after midnight UTC.${advice === undefined ? '' : ` ${advice}`}`,
    {
      code: 'upload_quota_reached',
      retryAfterSeconds: Math.ceil(leftMs / SECOND),
      limit: { max: files, resetsAt: later(now, leftMs) },
    },
  )
}

const unsupported = (message: string): ApiError =>
  new ApiError('invalid', message, { code: 'unsupported_file_type' })

const notText = (): ApiError =>
  unsupported('A file with this extension must be text in UTF-8 without NUL characters.')

const tooLarge = (): ApiError =>
  new ApiError(
    'too_large',
    `The file is larger than ${MAX_FILE_BYTES / 1024 / 1024} MB. Send a smaller file.`,
    {
      code: 'file_too_large',
    },
  )

const tookTooLong = (): ApiError =>
  new ApiError('unavailable', 'The upload took too long. Send the file again.', {
    code: 'storage_unavailable',
    retryAfterSeconds: 1,
  })

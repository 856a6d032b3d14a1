import type { Needs } from '@market/core/context'
import type { ByteRange } from '@market/core/ports/object-store'
import { ApiError } from '@market/kernel/api-error'
import type { UploadId } from '@market/kernel/ids'
import { isExpired, isSignedBy, type LinkSignature } from './file-link.ts'
import { findStored } from './store.ts'
import { objectKey } from './store-upload.ts'
import type { Upload } from './upload.ts'

/** A request for a file by its URL. */
export interface FileRequest {
  readonly id: string
  readonly fileName: string
  readonly link?: LinkSignature | undefined
}

/** The file of a URL. For a private one the URL must be signed, and not older than 15 minutes. */
export async function findFile(
  ctx: Needs<'db' | 'clock' | 'vault'>,
  { id, fileName, link }: FileRequest,
): Promise<Upload> {
  const [upload] = await findStored(ctx.db, [id as UploadId])
  if (upload === undefined || upload.fileName !== fileName) throw fileNotFound()
  if (upload.isPrivate !== true) return upload
  // Without our signature the response does not tell whether there is such a file.
  if (link === undefined || !isSignedBy(ctx, upload.id, link)) throw fileNotFound()
  if (isExpired(ctx, link)) throw linkExpired()
  return upload
}

export async function readFile(
  { objects }: Needs<'objects'>,
  { id }: Upload,
  range?: ByteRange,
): Promise<AsyncIterable<Uint8Array>> {
  const bytes = await objects.get(objectKey(id), range)
  if (bytes === undefined) throw fileNotFound()
  return bytes
}

const fileNotFound = (): ApiError =>
  new ApiError(
    'not_found',
    'This file does not exist, or its URL is incomplete. Use the URL as the upload or the order returned it.',
    {
      code: 'file_not_found',
    },
  )

const linkExpired = (): ApiError =>
  new ApiError('forbidden', 'This link has expired. Read the order again to get a new one.', {
    code: 'file_link_expired',
  })

import type { Needs } from '@market/core/context'
import type { ByteRange } from '@market/core/ports/object-store'
import { FILE_TYPES, type FileRequest, findFile, readFile, type Upload } from '@market/files/uploads'

export interface ServedFile extends Pick<Upload, 'fileName' | 'mediaType' | 'size' | 'sha256'> {
  /** Whether a browser may show it. */
  readonly isInline: boolean
  /** Whether caches may keep it: it was delivered in an order that is not private, so it neither changes nor ends. */
  readonly isPublic: boolean
  readonly read: (range?: ByteRange) => Promise<AsyncIterable<Uint8Array>>
}

export type ServeFile = (request: FileRequest) => Promise<ServedFile>

/** Finds the files of the separate origin. It knows no callers: a URL is all that it takes. */
export const fileServing =
  (ctx: Needs<'db' | 'clock' | 'vault' | 'objects'>): ServeFile =>
  async (request) => {
    const file = await findFile(ctx, request)
    const { fileName, mediaType, size, sha256 } = file
    return {
      ...{ fileName, mediaType, size, sha256 },
      isInline: FILE_TYPES[mediaType].isInline,
      isPublic: file.isPrivate === false && file.usedFor === 'deliverable',
      read: (range) => readFile(ctx, file, range),
    }
  }

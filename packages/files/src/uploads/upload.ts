import type { UploadId } from '@market/kernel/ids'
import { fileTypeFromBuffer } from 'file-type'

const MEGABYTE = 1024 * 1024
export const MAX_FILE_BYTES = 50 * MEGABYTE

/** How many bytes at the beginning of a file decide its type. */
export const HEAD_BYTES = 4_100

/** The user, wallet or agent to whom a file belongs, by the name of the caller. */
export type FileOwner = `user:${string}` | `wallet:${string}` | `agent:${string}`

interface FileType {
  /** The first one is added to names that have none of them. */
  readonly extensions: readonly [string, ...string[]]
  /** Whether a browser may show it. Everything else is downloaded. */
  readonly isInline: boolean
}

/** The media types that are stored. A browser runs no script in those that it may show. */
export const FILE_TYPES = {
  'image/jpeg': { extensions: ['jpg', 'jpeg'], isInline: true },
  'image/png': { extensions: ['png'], isInline: true },
  'image/webp': { extensions: ['webp'], isInline: true },
  'image/gif': { extensions: ['gif'], isInline: true },
  'video/mp4': { extensions: ['mp4'], isInline: true },
  'video/webm': { extensions: ['webm'], isInline: true },
  'video/quicktime': { extensions: ['mov'], isInline: true },
  'application/pdf': { extensions: ['pdf'], isInline: false },
  'application/zip': { extensions: ['zip'], isInline: false },
  'text/plain': { extensions: ['txt', 'md', 'csv', 'json', 'py'], isInline: false },
} as const satisfies Record<string, FileType>

export type MediaType = keyof typeof FILE_TYPES

/** Every extension, for messages: `jpg, jpeg, png, …`. */
export const ALLOWED = Object.values(FILE_TYPES)
  .flatMap(({ extensions }) => extensions)
  .join(', ')

/** A file whose bytes are stored. */
export interface Upload {
  readonly id: UploadId
  readonly owner: FileOwner
  readonly fileName: string
  readonly mediaType: MediaType
  readonly size: number
  readonly sha256: string
  /** Null until an order refers to the file. */
  readonly isPrivate: boolean | null
  /** Null until then. A reference is deleted with the account of its buyer; a deliverable stays with the order. */
  readonly usedFor: 'reference' | 'deliverable' | null
  readonly createdAt: Date
}

const isMediaType = (text: string): text is MediaType => Object.hasOwn(FILE_TYPES, text)

/** An animated PNG is a PNG for every reader. */
const SAME_TYPE: Readonly<Record<string, MediaType>> = { 'image/apng': 'image/png' }

/**
 * The type of a file by its first bytes. Texts have no bytes to tell them by, so their extension counts, and the caller
 * must check that all of the file is text. Undefined when the type is not allowed.
 */
export async function mediaTypeOf(head: Uint8Array, name: string): Promise<MediaType | undefined> {
  const found = (await fileTypeFromBuffer(head))?.mime ?? ''
  const byBytes = SAME_TYPE[found] ?? found
  if (isMediaType(byBytes)) return byBytes
  const texts: readonly string[] = FILE_TYPES['text/plain'].extensions
  return texts.includes(extensionOf(name)) ? 'text/plain' : undefined
}

export const extensionOf = (name: string): string =>
  /\.([0-9A-Za-z]{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? ''

const MAX_NAME_LENGTH = 100

/**
 * The base name that is stored: letters, digits, spaces and `._()-`, with an extension of its media type. A download
 * then opens as what it is: a PDF that is also HTML must not be saved as `x.html`.
 */
export function cleanFileName(given: string, mediaType: MediaType): string {
  const base = given.toWellFormed().normalize('NFC').split(/[/\\]/).at(-1) ?? ''
  const plain = base
    .replace(/[\p{C}]/gu, '')
    .replace(/[^\p{L}\p{M}\p{N} ._()-]/gu, '_')
    .replace(/ {2,}/g, ' ')
    .replace(/\.{2,}/g, '.')
  const extensions: readonly string[] = FILE_TYPES[mediaType].extensions
  const named = extensionOf(plain)
  const [first] = extensions
  const extension = extensions.includes(named) ? named : first
  const stem = extensions.includes(named) ? plain.slice(0, -named.length - 1) : plain
  const short = [...stem]
    .slice(0, MAX_NAME_LENGTH)
    .join('')
    .replace(/^[ .]+|[ .]+$/g, '')
  return `${short === '' ? 'file' : short}.${extension}`
}

/** Checks, part by part, that bytes are UTF-8 without NUL. */
export function textChecker(): { accepts(part: Uint8Array): boolean; endsWell(): boolean } {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const isValid = (decode: () => string): boolean => {
    try {
      decode()
      return true
    } catch {
      return false
    }
  }
  return {
    accepts: (part) => !part.includes(0) && isValid(() => decoder.decode(part, { stream: true })),
    endsWell: () => isValid(() => decoder.decode()),
  }
}

import { createHash } from 'node:crypto'

/** A document that many requests share, as it is sent. */
export interface CachedDocument {
  readonly json: Buffer
  readonly etag: string
}

export const cachedDocument = (document: unknown): CachedDocument =>
  documentOf(Buffer.from(JSON.stringify(document)))

export function documentOf(json: Buffer): CachedDocument {
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url')}"` }
}

import { createHash } from 'node:crypto'

/** A document that many requests share, as it is sent. */
export interface CachedDocument {
  readonly json: Buffer
  readonly etag: string
}

export function cachedDocument(document: unknown): CachedDocument {
  const json = Buffer.from(JSON.stringify(document))
  return { json, etag: `"${createHash('sha256').update(json).digest('base64url')}"` }
}

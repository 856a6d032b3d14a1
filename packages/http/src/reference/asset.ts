import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from '../headers.ts'
import { isKnown } from '../send-response.ts'

const compress = promisify(gzip)

/** Bytes that all responses share, and their compressed form once a client accepts it. */
export interface Asset {
  readonly bytes: Buffer
  readonly etag: string
  compressed?: Promise<Buffer>
}

export function assetOf(text: string): Asset {
  const bytes = Buffer.from(text)
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }
}

/** Sends the asset, compressed where the client accepts it. */
export async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
): Promise<FastifyReply> {
  addVary(reply, 'Accept-Encoding')
  // Weak, because the compressed bytes are others.
  reply.header('ETag', `W/${asset.etag}`)
  if (isKnown(request, asset.etag)) return reply.code(304).send()
  if (!acceptsGzip(request)) return reply.send(asset.bytes)
  asset.compressed ??= compress(asset.bytes)
  return reply.header('Content-Encoding', 'gzip').send(await asset.compressed)
}

const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(String(headers['accept-encoding'] ?? ''))

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { addVary } from '../headers.ts'

const compress = promisify(gzip)

/** Bytes that all responses share, and their compressed form once a client accepts it. */
export interface Asset {
  readonly bytes: Buffer
  compressed?: Promise<Buffer>
}

export const assetOf = (text: string): Asset => ({ bytes: Buffer.from(text) })

/** Sends the asset, compressed where the client accepts it. */
export async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset,
): Promise<FastifyReply> {
  addVary(reply, 'Accept-Encoding')
  if (!acceptsGzip(request)) return reply.send(asset.bytes)
  asset.compressed ??= compress(asset.bytes)
  return reply.header('Content-Encoding', 'gzip').send(await asset.compressed)
}

const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  /(^|,)\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*(,|$))[^,]*)?(,|$)/i.test(String(headers['accept-encoding'] ?? ''))

import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'

const compress = promisify(gzip)

/** What is sent to many visitors, and its compressed form once one accepts it. */
export interface Compressible {
  gzip?: Promise<Buffer>
}

/** Sends a body that is not secret: its length would say something about a secret. */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  kept: Compressible,
  body: string | Buffer,
): Promise<FastifyReply> {
  if (!acceptsGzip(request)) return reply.send(body)
  kept.gzip ??= compress(body)
  return reply.header('content-encoding', 'gzip').send(await kept.gzip)
}

const acceptsGzip = ({ headers }: FastifyRequest): boolean =>
  String(headers['accept-encoding'] ?? '')
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .some((one) => /^gzip(\s*;|$)/.test(one) && !/;\s*q=0(\.0*)?$/.test(one))

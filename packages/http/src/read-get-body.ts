import { errorCodes, type FastifyRequest } from 'fastify'
import type { ParseJson } from './json-body.ts'

/**
 * Reads the JSON body of a GET. The purchase routes accept one, but HTTP defines no meaning for it and Fastify does not
 * read it. A body of another type stays unread.
 */
export const readGetBody =
  (parse: ParseJson) =>
  async (request: FastifyRequest): Promise<void> => {
    if (request.method !== 'GET' || !isJson(request) || !hasBody(request)) return
    request.body = await parse(request, await textOf(request))
  }

const isJson = ({ headers }: FastifyRequest): boolean =>
  /^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

async function textOf({ raw, headers, routeOptions: { bodyLimit } }: FastifyRequest): Promise<string> {
  if (Number(headers['content-length']) > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
  const chunks: Buffer[] = []
  let size = 0
  try {
    // The stream stays open when the body is too long, because the error response is still to be sent.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > bodyLimit) break
    }
  } catch {
    // The client disconnected before the end of the body.
    throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH()
  }
  if (size > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
  return Buffer.concat(chunks).toString('utf8')
}

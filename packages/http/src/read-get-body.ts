import { errorCodes, type FastifyRequest } from 'fastify'
import type { ParseJson } from './json-body.ts'

/**
 * Reads the JSON that a GET carries: the contract of this one door has it, though HTTP gives such a body no meaning and
 * Fastify leaves it unread. Whatever is no JSON stays unread as it is everywhere.
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
    // Left open when it is too long: whoever sent it is still to be answered.
    for await (const chunk of raw.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > bodyLimit) break
    }
  } catch {
    // Whoever sent it went away before its end.
    throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH()
  }
  if (size > bodyLimit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
  return Buffer.concat(chunks).toString('utf8')
}

import type { ApiResponse } from '@market/handlers/call'
import { failureOf } from '@market/handlers/failure'
import { ApiError, type ErrorKind } from '@market/kernel/api-error'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SECURITY_HEADERS } from './headers.ts'

/** What the HTTP layer itself rejects, in the words of the contract. */
const TRANSPORT: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than 256 KB'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media', 'Send the body as application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'Content-Length does not match the body'],
  FST_ERR_BAD_URL: ['invalid', 'The path cannot be read'],
}

/** Every failure that did not come from the executor leaves in the same envelope. */
export function answerInEnvelope(
  app: FastifyInstance,
  onFault: (error: unknown, requestId: string) => void,
  reject: (request: FastifyRequest, apiError: ApiError) => Promise<ApiResponse | undefined>,
): void {
  app.setErrorHandler(async (error: FastifyError | ApiError, request, reply) => {
    const known = 'code' in error ? TRANSPORT[error.code] : undefined
    const apiError = known === undefined ? asClientFault(error) : new ApiError(...known)
    if (!(apiError instanceof ApiError)) onFault(error, request.id)
    const counted = apiError instanceof ApiError ? await reject(request, apiError) : undefined
    const failure = counted ?? failureOf(apiError, request.id)
    return reply.code(failure.status).headers(failure.headers).send(failure.body)
  })
  app.setNotFoundHandler((request, reply) => {
    const apiError = new ApiError('not_found', `There is no ${request.method} on this path; see /docs`, {
      code: 'no_such_route',
    })
    const failure = failureOf(apiError, request.id)
    return reply.code(failure.status).send(failure.body)
  })
}

/** What is rejected before there is a route: no hook has run, so the headers every answer carries are set here. */
export function answerUnroutable(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const known = TRANSPORT[error.code]
  const failure = failureOf(known === undefined ? unreadable() : new ApiError(...known), request.id)
  reply
    .code(failure.status)
    .headers({ ...SECURITY_HEADERS, 'X-Request-Id': request.id })
    .send(failure.body)
}

const unreadable = (): ApiError =>
  new ApiError('invalid', 'The request could not be read', { code: 'bad_request' })

/** Fastify marks what the client did wrong with a status below 500; its own words are not for the outside. */
function asClientFault(error: FastifyError | ApiError): unknown {
  const status = 'statusCode' in error ? error.statusCode : undefined
  if (status !== undefined && status >= 400 && status < 500) {
    return unreadable()
  }
  return error
}

import type { ApiResponse } from '@market/handlers/call'
import { failureOf } from '@market/handlers/failure'
import { ApiError, type ErrorKind } from '@market/kernel/api-error'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { SECURITY_HEADERS } from './headers.ts'

/** Error kind and message for each error of Fastify that a client can cause. */
const TRANSPORT: Readonly<Record<string, readonly [ErrorKind, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than 256 KB'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media', 'Send the body as application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'Content-Length does not match the body'],
  FST_ERR_BAD_URL: ['invalid', 'The path is not valid percent-encoding'],
}

/** Sends every error that was thrown outside the request pipeline in the same error envelope. */
export function sendErrorsInEnvelope(
  app: FastifyInstance,
  onFault: (error: unknown, requestId: string) => void,
  reject: (request: FastifyRequest, apiError: ApiError) => Promise<ApiResponse | undefined>,
): void {
  app.setErrorHandler(async (error: FastifyError | ApiError, request, reply) => {
    const known = 'code' in error ? TRANSPORT[error.code] : undefined
    const apiError = known === undefined ? asClientError(error) : new ApiError(...known)
    if (!(apiError instanceof ApiError)) onFault(error, request.id)
    const counted = apiError instanceof ApiError ? await reject(request, apiError) : undefined
    const failure = counted ?? failureOf(apiError, request.id)
    return reply.code(failure.status).headers(failure.headers).send(failure.body)
  })
  app.setNotFoundHandler((request, reply) => {
    const apiError = new ApiError('not_found', `No route for ${request.method} on this path. See /docs.`, {
      code: 'no_such_route',
    })
    const failure = failureOf(apiError, request.id)
    return reply.code(failure.status).send(failure.body)
  })
}

/** Responds to a request that fails before routing. No hook has run, so the common headers are set here. */
export function respondToUnroutable(error: FastifyError, request: FastifyRequest, reply: FastifyReply): void {
  const known = TRANSPORT[error.code]
  const failure = failureOf(known === undefined ? unreadable() : new ApiError(...known), request.id)
  reply
    .code(failure.status)
    .headers({ ...SECURITY_HEADERS, 'X-Request-Id': request.id })
    .send(failure.body)
}

const unreadable = (): ApiError =>
  new ApiError('invalid', 'The request could not be read', { code: 'bad_request' })

/** Fastify gives client errors a status below 500. Their messages are internal, so they are replaced. */
function asClientError(error: FastifyError | ApiError): unknown {
  const status = 'statusCode' in error ? error.statusCode : undefined
  if (status !== undefined && status >= 400 && status < 500) {
    return unreadable()
  }
  return error
}

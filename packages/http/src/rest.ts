import { type Operation, routesOf } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import type { ApiResponse, Call, CallPayment } from '@market/handlers/call'
import { callerFields } from '@market/handlers/credential'
import type { Execute } from '@market/handlers/execute'
import { ApiError } from '@market/kernel/api-error'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type CredentialRules, readCredentials } from './credentials.ts'
import { formFile } from './form-file.ts'
import { jsonParser } from './json-body.ts'
import { headerOf, paymentOf } from './payment-headers.ts'
import { readGetBody } from './read-get-body.ts'
import { isOtherSite } from './same-site.ts'
import { sendResponse } from './send-response.ts'
import { setSessionCookie } from './session-cookie.ts'
import { uploadSlots } from './upload-slots.ts'
import { gather, propertiesOfInput, wireOf } from './wire.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation's id, for logs and metrics. */
    operation?: string
  }
}

export interface RestSettings {
  readonly execute: Execute
  readonly ownOrigins: ReadonlySet<string>
  /** Whether browsers reach this server by https. */
  readonly isSecure: boolean
  readonly maxUploads?: number | undefined
}

/** Mounts the whole contract: every operation at each of its routes. */
export function mountRest(app: FastifyInstance, settings: RestSettings): void {
  app.decorateRequest('operation')
  const slots = uploadSlots(settings.maxUploads)
  const [forms, others] = partition(operationList.flatMap(routesOf))
  for (const operation of others) mount(app, operation, settings)
  app.register(async (child) => {
    // The body is read by the operation, after it knows the caller, and whatever its type is.
    child.removeAllContentTypeParsers()
    child.addContentTypeParser('*', (_request, _body, done) => done(null))
    for (const operation of forms) mount(child, operation, settings, slots)
  })
}

const partition = (operations: readonly Operation[]) =>
  [operations.filter(({ file }) => file), operations.filter(({ file }) => !file)] as const

const isPublic = ({ callers }: Operation): boolean => callers.includes('anonymous')

const tracer = trace.getTracer('agent-market')

function mount(
  app: FastifyInstance,
  operation: Operation,
  settings: RestSettings,
  slots?: ReturnType<typeof uploadSlots>,
): void {
  const wire = wireOf(operation)
  const rules = {
    inputFields: inputFieldsOf(operation),
    allowsCookie:
      operation.callers.some((kind) => kind === 'user' || kind === 'admin' || kind === 'wallet') ||
      operation.cacheSeconds !== undefined,
    ignoresForeignCookie: wire.isPurchase || (operation.method === 'GET' && isPublic(operation)),
  }
  // A payment is the credential of its request, so the cookie of another page's user does not matter.
  const rulesFor = (payment: CallPayment | undefined): CredentialRules =>
    payment?.payment === undefined && payment?.signature === undefined
      ? rules
      : { ...rules, ignoresForeignCookie: true }
  app.route({
    method: operation.method,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    onRequest: async (request) => {
      request.operation = operation.id
    },
    // A purchase by GET may have a JSON body. HEAD is off, because it would charge without returning a body.
    ...(operation.payment && { preHandler: readGetBody(jsonParser(app)), exposeHeadRoute: false }),
    handler: (request, reply) =>
      tracer.startActiveSpan(operation.id, async (span) => {
        const upload = slots && operation.file && slots(formFile(request.raw, operation.file), request.client)
        try {
          const input = gather(wire, request)
          const payment = operation.payment && paymentOf(request)
          // fix: session-site
          const isRejected = operation.setsCookie === true && isOtherSite(request, settings.ownOrigins)
          const response = await settings.execute({
            operation,
            input,
            ...credentialsOf(request, input, rulesFor(payment), settings),
            ...(isRejected && { rejected: otherSite() }),
            ...(payment && { payment }),
            ...(upload && { file: upload.file }),
            address: request.client,
            requestId: request.id,
            onCaller: callerOf(request),
            ...idempotencyKeyOf(request),
          })
          span.setAttribute('http.response.status_code', response.status)
          if (response.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          if (upload && !request.raw.complete) endAfterResponse(request, reply)
          if (response.cookie) setSessionCookie(reply, response.cookie, settings)
          return sendResponse(request, reply, response)
        } finally {
          upload?.end()
          span.end()
        }
      }),
  })
}

const otherSite = (): ApiError =>
  new ApiError('forbidden', 'Sessions start and end only on our own pages.', { code: 'cross_site' })

/** How long what a client still sends is read and discarded after the response. */
const DISCARD_MS = 2_000

/**
 * What is left of a file is not stored: the connection ends with the response. Closed with unread data it would be reset,
 * and a client that is still sending would not get the response.
 */
function endAfterResponse({ raw: { socket } }: FastifyRequest, reply: FastifyReply): void {
  reply.header('Connection', 'close')
  socket.destroySoon = () => {
    socket.end()
    socket.once('end', () => socket.destroy())
    setTimeout(() => socket.destroy(), DISCARD_MS).unref()
  }
}

/** The credentials, or the error of a malformed one. */
export function credentialsOf(
  request: FastifyRequest,
  input: Record<string, unknown>,
  rules: CredentialRules,
  settings: Pick<RestSettings, 'ownOrigins'>,
): Pick<Call, 'credentials' | 'rejected'> {
  try {
    return { credentials: readCredentials(request, input, rules, settings.ownOrigins) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { credentials: {}, rejected: error }
  }
}

/** Responds to a request whose body could not be read. It counts against the limit of its operation. */
export async function reject(
  request: FastifyRequest,
  rejected: ApiError,
  settings: RestSettings,
): Promise<ApiResponse | undefined> {
  const operation = operationList.find(({ id }) => id === request.operation)
  if (operation === undefined) return undefined
  const { id: requestId, client: address } = request
  return settings.execute({ operation, input: {}, credentials: {}, address, requestId, rejected })
}

/** Names the caller in the request log. */
export const callerOf =
  (request: FastifyRequest): NonNullable<Call['onCaller']> =>
  (actor) => {
    request.caller = callerFields(actor)
  }

/**
 * Fields named like credentials are input when the operation accepts no credentials, such as `wallet` of a query. `wallet`
 * is input also where wallets cannot sign.
 */
function inputFieldsOf(operation: Operation): ReadonlySet<string> {
  const { callers, cosigned } = operation
  const fields = Object.keys(propertiesOfInput(operation))
  if (callers.every((kind) => kind === 'anonymous')) return new Set(fields)
  const acceptsWallets = callers.includes('wallet') || cosigned === true
  return new Set(acceptsWallets ? [] : fields.filter((name) => name === 'wallet'))
}

function idempotencyKeyOf(request: FastifyRequest): { idempotencyKey?: string } {
  const idempotencyKey = headerOf(request, 'idempotency-key')
  return idempotencyKey === undefined ? {} : { idempotencyKey }
}

import type { Operation } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import type { Answer, Call } from '@market/handlers/call'
import type { Execute } from '@market/handlers/execute'
import { ApiError } from '@market/kernel/api-error'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Addressing, addressOf } from './address-of.ts'
import { type Taking, takeCredentials } from './credentials.ts'
import { gather, propertiesOfInput, wireOf } from './wire.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation's id, for logs and metrics. */
    operation?: string
  }
}

export interface RestSettings extends Addressing {
  readonly execute: Execute
  readonly ownOrigins: ReadonlySet<string>
  /** Paths that another door of the application shares, by their operation: it answers, or hands the request on. */
  readonly detours?: Readonly<
    Record<string, (request: FastifyRequest, onward: () => Promise<Answer>) => Promise<Answer>>
  >
}

/** Mounts the whole contract: one route per operation, nothing written twice. */
export function mountRest(app: FastifyInstance, settings: RestSettings): void {
  app.decorateRequest('operation')
  for (const operation of operationList) mount(app, operation, settings)
}

const tracer = trace.getTracer('agent-market')

function mount(app: FastifyInstance, operation: Operation, settings: RestSettings): void {
  const wire = wireOf(operation)
  const taking = {
    kept: keptFields(operation),
    takesPeople: operation.callers.some((kind) => kind === 'user' || kind === 'admin'),
  }
  const detour = settings.detours?.[operation.id]
  app.route({
    method: operation.method,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    onRequest: async (request) => {
      request.operation = operation.id
    },
    handler: (request, reply) =>
      tracer.startActiveSpan(operation.id, async (span) => {
        try {
          const execute = async () => {
            const input = gather(wire, request)
            return settings.execute({
              operation,
              input,
              ...shownBy(request, input, taking, settings),
              address: addressOf(request, settings),
              requestId: request.id,
              ...idempotencyKeyOf(request),
            })
          }
          const answer = await (detour === undefined ? execute() : detour(request, execute))
          span.setAttribute('http.response.status_code', answer.status)
          if (answer.status >= 500) span.setStatus({ code: SpanStatusCode.ERROR })
          return send(reply, answer)
        } finally {
          span.end()
        }
      }),
  })
}

/** The credentials, or what is wrong with the way they were shown. */
export function shownBy(
  request: FastifyRequest,
  input: Record<string, unknown>,
  taking: Taking,
  settings: Pick<RestSettings, 'ownOrigins'>,
): Pick<Call, 'credentials' | 'rejected'> {
  try {
    return { credentials: takeCredentials(request, input, taking, settings.ownOrigins) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { credentials: {}, rejected: error }
  }
}

/** Answers a request of a route that could not even be read, counted like any other of its calls. */
export async function reject(
  request: FastifyRequest,
  rejected: ApiError,
  settings: RestSettings,
): Promise<Answer | undefined> {
  const operation = operationList.find(({ id }) => id === request.operation)
  if (operation === undefined) return undefined
  const address = addressOf(request, settings)
  return settings.execute({ operation, input: {}, credentials: {}, address, requestId: request.id, rejected })
}

/** An operation that asks about a wallet, instead of being signed by one, keeps those fields as its input. */
const keptFields = (operation: Operation): ReadonlySet<string> =>
  new Set(
    operation.callers.some((kind) => kind !== 'anonymous') ? [] : Object.keys(propertiesOfInput(operation)),
  )

function idempotencyKeyOf(request: FastifyRequest): { idempotencyKey?: string } {
  const header = request.headers['idempotency-key']
  return header === undefined ? {} : { idempotencyKey: Array.isArray(header) ? header.join(',') : header }
}

const send = (reply: FastifyReply, answer: Awaited<ReturnType<Execute>>) =>
  reply.code(answer.status).headers(answer.headers).send(answer.body)

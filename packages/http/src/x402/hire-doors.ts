import type { Answer } from '@market/handlers/call'
import type { HireCall } from '@market/handlers/x402/hire-call'
import type { ApiError } from '@market/kernel/api-error'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Addressing, addressOf } from '../address-of.ts'
import { jsonParser } from '../json-body.ts'
import { shownBy } from '../rest.ts'
import { readGetBody } from './read-get-body.ts'

export type Purchase = (call: HireCall) => Promise<Answer>

interface DoorSettings extends Addressing {
  readonly hire: Purchase
  readonly ownOrigins: ReadonlySet<string>
}

interface Door {
  readonly door: HireCall['door']
  readonly methods: readonly ('GET' | 'POST')[]
  readonly url: string
  /** Whether a GET may say in a body what is to be done. */
  readonly readsGet?: true
}

/** Where a program that purchases may knock. Reading a price and paying it is the same request, without and with a payment. */
const DOORS: readonly Door[] = [
  { door: 'discover', methods: ['GET', 'POST'], url: '/api/x402/discover/:service_id', readsGet: true },
  { door: 'discover', methods: ['GET', 'POST'], url: '/api/x402/discover' },
  { door: 'pay', methods: ['POST'], url: '/api/x402/pay' },
  { door: 'v1', methods: ['POST'], url: '/api/x402/v1/pay' },
]

const operationOf = (door: HireCall['door']): string => `x402.${door}`

export function mountHireDoors(app: FastifyInstance, settings: DoorSettings): void {
  const readBody = readGetBody(jsonParser(app))
  for (const { door, methods, url, readsGet } of DOORS)
    app.route({
      method: [...methods],
      url,
      // Whoever asks for headers alone would pay and never read what they bought.
      exposeHeadRoute: false,
      onRequest: async (request) => {
        request.operation = operationOf(door)
      },
      ...(readsGet && { preHandler: readBody }),
      handler: async (request, reply) => {
        const answer = await settings.hire(callOf(request, door, settings))
        return reply.code(answer.status).headers(answer.headers).send(answer.body)
      },
    })
}

/** A request at one of these doors that could not even be read counts like any other; undefined at other doors. */
export async function rejectHire(
  request: FastifyRequest,
  rejected: ApiError,
  settings: DoorSettings,
): Promise<Answer | undefined> {
  const door = DOORS.find((one) => operationOf(one.door) === request.operation)?.door
  return door && settings.hire({ ...callOf(request, door, settings), rejected })
}

/**
 * An order that comes with its payment is a hire. One that comes from nobody in particular may become one: where it can
 * be paid with a request, it is told what to pay, which helps more than that nobody knows who asks.
 */
export const hireInsteadOfOrder =
  (settings: DoorSettings) =>
  async (request: FastifyRequest, order: () => Promise<Answer>): Promise<Answer> => {
    if (PAYMENTS.some((name) => request.headers[name] !== undefined))
      return settings.hire(callOf(request, 'order', settings))
    const answer = await order()
    if (answer.status !== 401 || hasCredential(request)) return answer
    const offered = await settings.hire({ ...callOf(request, 'order', settings), isCounted: true })
    return offered.status === 402
      ? { ...offered, headers: { ...answer.headers, ...offered.headers } }
      : answer
  }

/** An agent that is paid for with the request is registered at the same path. */
export const payToRegister =
  (settings: DoorSettings & { readonly register: Purchase }) =>
  (request: FastifyRequest, register: () => Promise<Answer>): Promise<Answer> => {
    const { pay } = request.query as Readonly<Record<string, unknown>>
    const isAsked = pay === 'x402' || fieldsOf(request.body)['pay_to_register'] === true
    const isPaid = PAYMENTS.some((name) => request.headers[name] !== undefined)
    return isAsked || isPaid ? settings.register(callOf(request, 'register', settings)) : register()
  }

const PAYMENTS = ['x-payment', 'payment-signature']
const CREDENTIALS = ['authorization', 'cookie', 'x-market-wallet-sig']

function hasCredential({ headers, body }: FastifyRequest): boolean {
  const said = fieldsOf(body)
  return (
    CREDENTIALS.some((name) => headers[name] !== undefined) ||
    'wallet_sig' in said ||
    'idp_access_token' in said
  )
}

const fieldsOf = (body: unknown): Readonly<Record<string, unknown>> =>
  typeof body === 'object' && body !== null && !Array.isArray(body) ? (body as Record<string, unknown>) : {}

/** Nobody who purchases has an account: a wallet's signature is all that may be shown beside the payment. */
const ANYBODY = { kept: new Set<string>(), takesPeople: false }

function callOf(request: FastifyRequest, door: HireCall['door'], settings: DoorSettings): HireCall {
  const input = inputOf(request)
  const { credentials, rejected } = shownBy(request, input, ANYBODY, settings)
  return {
    door,
    input,
    payment: {
      signature: textOf(request, 'payment-signature'),
      payment: textOf(request, 'x-payment'),
      network: textOf(request, 'x-payment-network'),
    },
    claim: textOf(request, 'x-payment-claim'),
    wallet: credentials.wallet,
    idempotencyKey: textOf(request, 'idempotency-key'),
    address: addressOf(request, settings),
    requestId: request.id,
    ...(rejected && { rejected }),
  }
}

/** What is to be done may come in the body, in the query or in a header, so that it survives being sent again. */
function inputOf(request: FastifyRequest): Record<string, unknown> {
  const said = textOf(request, 'x-market-brief')
  const query = request.query as Readonly<Record<string, unknown>>
  return {
    ...(said !== undefined && { brief: decoded(said) }),
    ...query,
    ...fieldsOf(request.body),
    ...(request.params as Readonly<Record<string, string>>),
  }
}

const textOf = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

/** Headers hold Latin letters only, so others come percent-encoded. */
function decoded(header: string): string {
  try {
    return decodeURIComponent(header)
  } catch {
    return header
  }
}

import { ApiError } from '@market/kernel/api-error'
import type { Idp } from '@market/testing/idp'
import Fastify, { type FastifyInstance } from 'fastify'
import type { DevClock } from './clock.ts'
import { addMoneyRoutes } from './control-money.ts'
import type { Networks } from './networks/start-networks.ts'
import { API_PORT, HOST, isFree, randomPortPair } from './ports.ts'
import { type SampleUser, tokenFor } from './sample-users.ts'
import type { WebhookForwards } from './webhook-forwards.ts'

const PORT_ATTEMPTS = 20
const PATHS =
  '/clock/advance, /idp/token, /wallets, /fund, /transfer, /blocks, /webhooks/forward, /programs/kill and /limits/reset'
const YEAR_SECONDS = 366 * 24 * 3_600

const ADVANCE = {
  type: 'object',
  required: ['seconds'],
  additionalProperties: false,
  properties: { seconds: { type: 'integer', minimum: 0, maximum: YEAR_SECONDS } },
}

const TOKEN = {
  type: 'object',
  required: ['email'],
  additionalProperties: false,
  properties: {
    email: { type: 'string', maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+$' },
    twitter_username: { type: 'string', pattern: '^[A-Za-z0-9_]{1,15}$' },
    wallets: { type: 'array', maxItems: 20, items: { type: 'string', minLength: 1, maxLength: 128 } },
  },
}

const FORWARD = {
  type: 'object',
  required: ['agent', 'to'],
  additionalProperties: false,
  properties: {
    agent: { type: 'string', minLength: 1, maxLength: 64 },
    to: { type: 'string', minLength: 1, maxLength: 2_048 },
  },
}

const KILL = {
  type: 'object',
  required: ['program'],
  additionalProperties: false,
  properties: { program: { type: 'string', enum: ['api', 'worker'] } },
}

export interface ControlDeps {
  readonly clock: DevClock
  readonly idp: Idp
  /** Absent when the run has no chains. */
  readonly networks: Networks | undefined
  readonly forwards: WebhookForwards
  /** Forgets all counted requests. */
  readonly resetLimits: () => Promise<void>
  /** Kills a program and starts it again. */
  readonly restart: (program: 'api' | 'worker') => Promise<void>
}

/**
 * A server that simulates the outside world: it moves the clock, issues tokens for any user, sends money and forwards webhooks. It accepts
 * requests of programs on this machine, not of web pages.
 */
export function buildControl(deps: ControlDeps): FastifyInstance {
  const { clock, idp, networks, forwards, resetLimits, restart } = deps
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
  })
  // A form on a web page can send text/plain without a CORS preflight, but not JSON.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    const fromPage = origin !== undefined || request.headers['sec-fetch-site'] !== undefined
    // A foreign domain that resolves to 127.0.0.1 (DNS rebinding) still appears in the Host header.
    const port = request.socket.localPort
    const isLocalHost = host === `127.0.0.1:${port}` || host === `localhost:${port}`
    if (fromPage || !isLocalHost)
      return reply.code(403).send({ error: 'This server does not accept requests of web pages' })
  })
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    reply.code(error instanceof ApiError ? 400 : (error.statusCode ?? 500)).send({ error: error.message }),
  )
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: `Unknown route. Use GET /networks, or POST ${PATHS}.` }),
  )
  app.post<{ Body: { seconds: number } }>(
    '/clock/advance',
    { schema: { body: ADVANCE } },
    async ({ body: { seconds } }) => ({ now: (await clock.advance(seconds)).toISOString() }),
  )
  app.post<{ Body: SampleUser }>('/idp/token', { schema: { body: TOKEN } }, async (request) => ({
    access_token: await tokenFor(idp, request.body),
  }))
  app.post<{ Body: { agent: string; to: string } }>(
    '/webhooks/forward',
    { schema: { body: FORWARD } },
    ({ body: { agent, to } }) => forwards.forward(agent, to),
  )
  app.post('/limits/reset', async () => {
    await resetLimits()
    return { reset: true }
  })
  app.post<{ Body: { program: 'api' | 'worker' } }>(
    '/programs/kill',
    { schema: { body: KILL } },
    async ({ body: { program } }) => {
      await restart(program)
      return { restarted: program }
    },
  )
  addMoneyRoutes(app, networks)
  return app
}

export interface ControlServer {
  readonly control: FastifyInstance
  readonly url: string
  readonly apiPort: number
}

/**
 * Starts the control server and chooses the API's port. The API listens with `reusePort`, so two runs could share a port
 * without an error. Therefore the control server gets the port after the API's, which only one run can listen on.
 */
export async function startControl(
  wantedApiPort: number | undefined,
  build: (apiPort: number) => FastifyInstance,
): Promise<ControlServer> {
  if (wantedApiPort !== undefined && !(await isFree(wantedApiPort)))
    throw new Error(`Port ${wantedApiPort} is in use`)
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
    const first = attempt === 0 ? API_PORT : randomPortPair()
    const apiPort = wantedApiPort ?? first
    const port = first + 1
    const control = build(apiPort)
    try {
      await control.listen({ port, host: HOST })
      if (await isFree(apiPort)) return { control, url: `http://${HOST}:${port}`, apiPort }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    }
    await control.close()
  }
  throw new Error(`No free pair of ports was found in ${PORT_ATTEMPTS} attempts`)
}

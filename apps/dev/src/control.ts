import { ApiError } from '@market/kernel/api-error'
import type { Idp } from '@market/testing/idp'
import Fastify, { type FastifyInstance } from 'fastify'
import type { MovableClock } from './clock.ts'
import { mountMoney } from './control-money.ts'
import type { Networks } from './networks/start-networks.ts'
import { type Person, tokenFor } from './people.ts'
import { HOST, isFree, somePair } from './ports.ts'

const PORT_ATTEMPTS = 20
const PATHS = '/clock/advance, /idp/token, /wallets, /fund and /transfer'
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

export interface Outside {
  readonly clock: MovableClock
  readonly idp: Idp
  /** Absent when the run has no chains. */
  readonly networks: Networks | undefined
}

/**
 * Plays the outside world: moves the clock, signs anybody in, sends money. For programs on this machine, never for web
 * pages.
 */
export function buildControl({ clock, idp, networks }: Outside): FastifyInstance {
  const app = Fastify({
    logger: false,
    forceCloseConnections: true,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allowUnionTypes: true } },
  })
  // A form of a web page can send text/plain without asking; JSON it cannot.
  app.removeContentTypeParser('text/plain')
  app.addHook('onRequest', async (request, reply) => {
    const { origin, host } = request.headers
    const fromPage = origin !== undefined || request.headers['sec-fetch-site'] !== undefined
    // A foreign name that was made to point at this machine still shows in Host.
    const port = request.socket.localPort
    const isOurs = host === `127.0.0.1:${port}` || host === `localhost:${port}`
    if (fromPage || !isOurs) return reply.code(403).send({ error: 'This server is not for web pages' })
  })
  app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
    reply.code(error instanceof ApiError ? 400 : (error.statusCode ?? 500)).send({ error: error.message }),
  )
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: `Here are POST ${PATHS}` }))
  app.post<{ Body: { seconds: number } }>(
    '/clock/advance',
    { schema: { body: ADVANCE } },
    async ({ body: { seconds } }) => {
      const now = await clock.advance(seconds)
      // A payment made now must not look older than what it pays for.
      await networks?.advance(seconds)
      return { now: now.toISOString() }
    },
  )
  app.post<{ Body: Person }>('/idp/token', { schema: { body: TOKEN } }, async (request) => ({
    access_token: await tokenFor(idp, request.body),
  }))
  mountMoney(app, networks)
  return app
}

export interface Opened {
  readonly control: FastifyInstance
  readonly url: string
  readonly apiPort: number
}

/**
 * Opens the control server and finds the api's port. The api can share a port with its successor, so two runs that
 * chose one would not notice; they cannot choose one, because it is the neighbour of a port held alone.
 */
export async function openControl(
  wantedApiPort: number | undefined,
  build: (apiPort: number) => FastifyInstance,
): Promise<Opened> {
  if (wantedApiPort !== undefined && !(await isFree(wantedApiPort)))
    throw new Error(`Port ${wantedApiPort} is taken`)
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt++) {
    const port = somePair()
    const apiPort = wantedApiPort ?? port + 1
    const control = build(apiPort)
    try {
      await control.listen({ port, host: HOST })
      if (await isFree(apiPort)) return { control, url: `http://${HOST}:${port}`, apiPort }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    }
    await control.close()
  }
  throw new Error('No free ports were found')
}

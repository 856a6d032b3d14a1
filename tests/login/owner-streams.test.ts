import { emit } from '@market/core/events'
import { transact } from '@market/database/transact'
import { eventStreams } from '@market/handlers/event-streams'
import { endSession, startUserSession } from '@market/identity/sessions'
import { oidcIdentity } from '@market/platform/identity/oidc-identity'
import { testClock } from '@market/testing/clock'
import { type Idp, startIdp } from '@market/testing/idp'
import { makeAgent, makeProfile } from '@market/testing/makers'
import { marketContext } from '@market/testing/market-context'
import { type TestDatabase, testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { newLimiter, testAppServices } from '../support/app-services.ts'

/** How often the streams of an owner ask the identity provider. The time is that of a test clock. */

const NEVER_MS = 600_000
const USERINFO = '/me'

const limiter = newLimiter()
let database: TestDatabase
let idp: Idp
beforeAll(async () => {
  ;[database, idp] = await Promise.all([testDatabase(), startIdp()])
})
afterAll(() => Promise.all([database.stop(), idp.stop(), limiter.stop()]))

async function startStreams() {
  const clock = testClock(new Date())
  const ctx = marketContext({ db: database.db, clock })
  const app = testAppServices(database.db, {
    limiter,
    chains: {},
    facilitators: {},
    onFault: () => {},
    clock,
    vault: ctx.vault,
    identity: oidcIdentity({ issuer: idp.issuer, audience: idp.audience, timeoutMs: 60_000 }),
  })
  const streams = eventStreams(app)
  onTestFinished(() => streams.stop())
  const profile = makeProfile()
  const { userId: sub } = profile
  const { agent } = await makeAgent(ctx, { owner: { kind: 'user', profile } })
  const newSession = async (given?: string) => {
    const accessToken = given ?? (await idp.token({ sub }))
    return (await startUserSession(app, sub, { accessToken, expiresInSeconds: 3_600 })).token
  }
  const open = async (cookieToken: string) => {
    const stream = await streams.open({
      input: { agent_id: agent.id },
      credentials: { cookieToken },
      address: '198.51.100.1',
      requestId: 'req_1',
    })
    if ('status' in stream) throw new Error(`rejected: ${stream.status}`)
    onTestFinished(() => stream.close())
    return stream.read(new AbortController().signal, NEVER_MS)
  }
  const send = () =>
    transact(database.db, (tx) =>
      emit(ctx, tx, { agentId: agent.id, event: 'webhook.test', data: { message: 'Hello' } }),
    )
  return { app, clock, sub, newSession, open, send }
}

test('streams of an owner ask the provider for the profile once a minute and session, and when they are opened', async () => {
  const { clock, newSession, open, send } = await startStreams()
  const [one, other] = [await newSession(), await newSession()]
  const opened = [await open(one), await open(one), await open(one), await open(other)]
  let asked = idp.requestsTo(USERINFO)
  const askedSince = () => {
    const before = asked
    asked = idp.requestsTo(USERINFO)
    return asked - before
  }
  /** Each stream checks whose it is before it sends an event. */
  const receive = async () => {
    await send()
    for (const stream of opened) expect((await stream.next()).value).toMatchObject({ event: 'webhook.test' })
  }
  await receive()
  expect(askedSince()).toBe(2)
  for (let n = 0; n < 3; n++) {
    clock.advance(15_000)
    await receive()
  }
  expect(askedSince()).toBe(0)
  clock.advance(15_000)
  await receive()
  expect(askedSince()).toBe(2)
})

test('a stream ends at its next event when the session has ended, and within a minute when the provider revoked the token', async () => {
  const { app, clock, sub, newSession, open, send } = await startStreams()
  const one = await newSession()
  const accessToken = await idp.token({ sub })
  const revoked = await open(await newSession(accessToken))
  const ended = await open(one)
  await send()
  for (const stream of [revoked, ended]) expect((await stream.next()).done).toBe(false)
  idp.revoke(accessToken)
  await endSession(app, one)
  await send()
  expect(await ended.next()).toEqual({ done: true, value: undefined })
  expect((await revoked.next()).done).toBe(false)
  clock.advance(60_000)
  await send()
  expect(await revoked.next()).toEqual({ done: true, value: undefined })
})

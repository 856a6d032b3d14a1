import { type Operation, pathKeysOf, SWITCHES } from '@market/contract/define'
import { operationList } from '@market/contract/operations'
import { propertiesOfInput } from '@market/http/wire'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { fuzzCases, inBrief, wireRequestOf } from '../support/fuzz-cases.ts'
import { type Market, startMarket } from '../support/market.ts'
import { openApiOracle } from '../support/openapi-oracle.ts'
import { operatorToken } from '../support/operator.ts'
import { plainInput } from '../support/schema-arbitraries.ts'
import { SHORT_WAIT } from '../support/settings.ts'
import { isNotConfigured, isServed } from '../support/valid-request.ts'
import { type Wire, wire } from '../support/wire-request.ts'
import {
  acceptedPrincipal,
  credentialOf,
  makeWorld,
  PRINCIPALS,
  type Principal,
  type World,
} from './authorization-fixture.ts'
import { resourcesOf } from './authorization-resources.ts'
import { findSecrets } from './secrets-in-text.ts'
import { storedSecrets } from './stored-secrets.ts'

/** Random cases for each operation, beside a valid and an invalid one. */
const CASES = Number(process.env['FUZZ_CASES'] ?? 4)
const SEED = Number(process.env['FUZZ_SEED'] ?? 7)
const MS_PER_CASE = 100

/** The fields of an operation, except those of its path, with a value that is no number, no choice and too long. */
const tooLong = (operation: Operation): Record<string, string> => {
  const names = Object.keys(propertiesOfInput(operation))
  const others = names.filter((name) => !pathKeysOf(operation).includes(name))
  return Object.fromEntries(others.map((name) => [name, '9'.repeat(500)]))
}

/** A public read without input ignores whatever it gets. */
const canReject = (operation: Operation): boolean =>
  isWrite(operation) ||
  !operation.callers.includes('anonymous') ||
  Object.keys(propertiesOfInput(operation)).length > 0

let market: Market
let world: World | undefined
let sender: Wire
let against: Awaited<ReturnType<typeof openApiOracle>>
beforeAll(async () => {
  // With chains to query, a wrong signature or transaction is known to be wrong; without them the response would be 503.
  market = await startMarket(SHORT_WAIT, { chains: ['base-mainnet', 'solana-mainnet'] })
  sender = wire(market.url)
  against = await openApiOracle(market)
})
afterAll(async () => {
  sender.stop()
  await market.stop()
})

/** A switch that one case turned on would reject the cases of the next operation. */
afterEach(async () => {
  const admin = await operatorToken(market)
  const { body } = await market.client().get('/api/admin/switches', { bearer: admin })
  const switches = body.data as readonly { readonly name: string; readonly on: boolean }[]
  expect(switches.map(({ name }) => name).toSorted()).toEqual([...SWITCHES].toSorted())
  for (const { name } of switches.filter(({ on }) => on)) {
    const off = { on: false, reason: 'the next operation begins' }
    const reply = await market.client().put(`/api/admin/switches/${name}`, off, { bearer: admin })
    expect(reply.status).toBe(200)
  }
})

/**
 * A fixture takes 150 requests, so operations share it until one has ended a credential in it. The cases of a seed depend on
 * those before them: a failure is repeated by the same seed with all operations.
 */
async function currentWorld(): Promise<World> {
  if (world === undefined || !(await hasValidCredentials(world))) world = await makeWorld(market)
  return world
}

async function hasValidCredentials({ agent, otherAgent, ownerUser, otherUser }: World): Promise<boolean> {
  const replies = await Promise.all([
    ...[agent.apiKey, otherAgent.apiKey].map((bearer) => market.client().get('/api/agents/me', { bearer })),
    ...[ownerUser, otherUser].map(({ token }) => market.client().get('/api/profile', { bearer: token })),
  ])
  return replies.every(({ status }) => status === 200)
}

const WRONG_KEY = { authorization: `Bearer market_${'0'.repeat(49)}` }
const WRONG: readonly Readonly<Record<string, string>>[] = [
  WRONG_KEY,
  { authorization: 'Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJvcGVyYXRvci0xIn0.' },
  { authorization: 'Bearer adm_guess' },
  { 'x-market-wallet-sig': '0x00', 'x-market-wallet-sig-ts': '1', 'x-market-wallet': '0x1' },
]

type CallerCase = { readonly principal: Principal } | { readonly wrong: Readonly<Record<string, string>> }

/** Mostly valid principals, often one that the operation accepts, sometimes an invalid credential. */
const callersOf = (operation: Operation): fc.Arbitrary<CallerCase> =>
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ principal: acceptedPrincipal(operation) }) },
    { weight: 5, arbitrary: fc.constantFrom(...PRINCIPALS).map((principal) => ({ principal })) },
    { weight: 1, arbitrary: fc.constantFrom(...WRONG).map((wrong) => ({ wrong })) },
  )

/** Existing secrets in a response that must not contain them. The caller's own input may be returned. */
async function secretsIn(text: string, operation: Operation, input: string): Promise<string[]> {
  const shown = findSecrets(text).filter(
    (secret) => !secret.returnedBy.has(operation.id) && !input.includes(secret.text),
  )
  if (shown.length === 0) return []
  const stored = await storedSecrets(market)
  return shown.filter((secret) => stored.has(secret.text)).map(({ name }) => name)
}

const isWrite = ({ method }: Operation): boolean => method !== 'GET'
const READS_FIRST = operationList.toSorted((a, b) => Number(isWrite(a)) - Number(isWrite(b)))

describe(`fuzz (FUZZ_SEED=${SEED} FUZZ_CASES=${CASES})`, () => {
  test.each(READS_FIRST)(
    '$id: returns only declared responses, without secrets or internals',
    async (operation) => {
      const others = operationList.filter(
        ({ id, method }) => id !== operation.id && method === operation.method,
      )
      const fixedPaths = new Set(others.map(({ path }) => path))
      const statuses = new Map<number, number>()

      const wrongWith = async (
        world: World,
        caller: CallerCase,
        fuzzed: Parameters<typeof wireRequestOf>[2],
      ) => {
        const request = wireRequestOf(operation, fixedPaths, fuzzed)
        if (request === undefined) return undefined
        const shown =
          'wrong' in caller
            ? { headers: caller.wrong }
            : await credentialOf(world, caller.principal, operation, fuzzed.input)
        const answer = await sender.send({
          ...request,
          headers: {
            'x-forwarded-for': someAddress(),
            ...(shown.bearer !== undefined && { authorization: `Bearer ${shown.bearer}` }),
            ...shown.headers,
            ...request.headers,
          },
        })
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        if (answer.status >= 500 && !isNotConfigured(operation, answer.status))
          return `a fault of ours: ${answer.status} ${answer.text}`
        if (!String(answer.headers['content-type']).startsWith('application/json'))
          return 'the answer is not JSON'
        const body = JSON.parse(answer.text) as { request_id?: string }
        const given = await secretsIn(answer.text, operation, inBrief(fuzzed.input))
        if (given.length > 0) return `gave away ${given.join()}`
        const isChallenge = answer.status === 402 && operation.payment !== undefined
        if (answer.status >= 400 && !isChallenge && body.request_id !== answer.headers['x-request-id'])
          return 'no request_id'
        return against(operation, answer.status, body)
      }

      const goodIn = (world: World) => ({
        input: plainInput(operation, resourcesOf(world, operation)),
        body: undefined,
        query: '',
        headers: {},
      })
      const insider: CallerCase = { principal: acceptedPrincipal(operation) }
      const hasServed = () => [...statuses.keys()].some((status) => isServed(operation, status))
      // An earlier operation may have used up what this one needs: then it gets a fixture of its own.
      let used = await currentWorld()
      const problems = [await wrongWith(used, insider, goodIn(used))]
      if (!hasServed()) {
        used = world = await makeWorld(market)
        problems.push(await wrongWith(used, insider, goodIn(used)))
      }
      expect(problems.filter((problem) => problem !== undefined)).toEqual([])
      const good = goodIn(used)
      const bad = { ...good, input: { ...good.input, ...tooLong(operation) } }
      const examples: [CallerCase, typeof good][] = [[{ wrong: WRONG_KEY }, bad]]
      const property = fc.asyncProperty(
        callersOf(operation),
        fuzzCases(operation, resourcesOf(used, operation)),
        async (caller, fuzzed) => {
          const wrong = await wrongWith(used, caller, fuzzed)
          if (wrong !== undefined) throw new Error(wrong)
        },
      )
      const run = await fc.check(property, { seed: SEED, numRuns: CASES + examples.length, examples })
      const report = run.failed
        ? `${String(run.errorInstance)}\n${inBrief(run.counterexample)}\nFUZZ_SEED=${SEED}`
        : ''
      expect(report).toBe('')
      // A run in which every case was rejected would not have reached the handler.
      expect(hasServed()).toBe(true)
      if (canReject(operation)) expect([...statuses.keys()].some((status) => status >= 400)).toBe(true)
      expect(Object.keys(Object.prototype)).toEqual([])
    },
    60_000 + CASES * MS_PER_CASE,
  )
})

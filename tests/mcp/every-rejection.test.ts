import type { Operation } from '@market/contract/define'
import { errorsOf } from '@market/contract/operation-errors'
import { tools } from '@market/contract/tools'
import { FAILURES } from '@market/handlers/failure-statuses'
import { mountMcp } from '@market/mcp/mount'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { everyTool } from './every-tool.ts'
import { CLIENTS, type McpClient, type ToolResult } from './mcp-clients.ts'

/**
 * Every tool in every rejection that its operation lists, through the MCP server and an official client. The contract tests show
 * that an operation returns no code that it does not list, and `tool-results.test.ts` meets the frequent ones on a whole marketplace.
 */

const SERVICE_ID = 'svc_1700000000000_zzzzzz'
const ADDRESS = '198.51.100.7'

interface Rejection {
  readonly status: number
  readonly code: string
}

let next: Rejection
const called: string[] = []

/** As `failureOf` of the pipeline, and as the challenge of a purchase. */
function rejection({ status, code }: Rejection, { payment }: Operation) {
  const error = `Rejected with ${code}.`
  if (status === 402 && payment !== undefined)
    return { x402Version: 1, accepts: [], proof: {}, error: code, message: error }
  const data = { required_sol: 0.04, balance_sol: 0, deposit_address: 'Ase1111111111111111111111111111' }
  const extra = code === 'agent_wallet_underfunded' ? { data } : {}
  return { success: false, error, code, request_id: 'req_1', ...extra }
}

const app = fastify()
mountMcp(app, {
  execute: async ({ operation }) => {
    called.push(operation.id)
    const headers = next.status === 429 || next.status === 503 ? { 'Retry-After': '7' } : {}
    return { status: next.status as never, body: rejection(next, operation), headers }
  },
  verify: async () => ({ actor: { kind: 'agent', agentId: 'agt_1' } }) as never,
  count: async () => {},
  nameOf: () => 'agent:agt_1',
  baseUrl: 'https://market.test',
  appUrl: 'https://market.test',
  otherHosts: ['localhost', '127.0.0.1'],
  addressOf: () => ADDRESS,
  onRequest: () => {},
  onCaller: () => {},
})

const clients: McpClient[] = []
const schemas = new Map<string, object | undefined>()
beforeAll(async () => {
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  for (const [name, connect] of Object.entries(CLIENTS)) {
    const client = await connect(`${url}/mcp`, 'market_key')
    // An official client checks results only after it listed the tools.
    const listed = (await client.list()) as readonly { name: string; outputSchema?: object }[]
    if (name === 'client 2') for (const tool of listed) schemas.set(tool.name, tool.outputSchema)
    clients.push(client)
  }
})
afterAll(async () => {
  for (const client of clients) await client.close()
  await app.close()
})

const ajv = new Ajv2020({ strict: false })

const isUsable = (name: string, result: ToolResult): boolean => {
  const schema = schemas.get(name)
  return (
    result.isError === true || (schema === undefined ? true : ajv.validate(schema, result.structuredContent))
  )
}

const rejectionsOf = (operation: Operation): Rejection[] =>
  [...errorsOf(operation)].flatMap(([status, codes]) => codes.map((code) => ({ status, code })))

const served = tools.filter((tool) => 'operation' in tool)

test('every one of the 39 tools is tried, and every status of errors is among their rejections', () => {
  expect(served).toHaveLength(38)
  expect(tools.map(({ name }) => name).filter((name) => !served.some((one) => one.name === name))).toEqual([
    'market_verify_twitter',
  ])
  const statuses = new Set(served.flatMap(({ operation }) => [...errorsOf(operation).keys()]))
  // Of uploads and of requests that reach no operation.
  const others = Object.keys(FAILURES)
    .map(Number)
    .filter((status) => !statuses.has(status as never))
  expect(others).toEqual([408, 431])
})

describe.each(served)('$name', ({ name, operation, isPrice }) => {
  test('each rejection that its operation lists is an error with its code, or matches the output schema', async () => {
    const [args] = everyTool(SERVICE_ID)[name] ?? [{}]
    const wrong: string[] = []
    const rejections = rejectionsOf(operation)
    expect(rejections.length).toBeGreaterThan(5)
    for (const [n, one] of rejections.entries()) {
      next = one
      const client = clients[n % clients.length] ?? expect.unreachable('three clients')
      const result = await client.call(name, args as Record<string, unknown>).catch(String)
      const where = `${one.status} ${one.code}`
      if (typeof result === 'string') {
        wrong.push(`${where}: ${result}`)
        continue
      }
      expect(called.at(-1)).toBe(operation.id)
      const isPriced = one.status === 402 && operation.payment !== undefined
      const seen =
        isPriced && isPrice === true ? result.structuredContent.error : result._meta?.['market/error']?.code
      if (!isUsable(name, result)) wrong.push(`${where}: neither an error nor a result`)
      if (result.isError !== true && !(isPriced && isPrice === true)) wrong.push(`${where}: not an error`)
      if (seen !== one.code) wrong.push(`${where}: ${seen}`)
      if (!result.content[0]?.text?.includes(one.code)) wrong.push(`${where}: the text does not say why`)
    }
    expect(wrong).toEqual([])
  })
})

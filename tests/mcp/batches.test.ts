import type { Execute } from '@market/handlers/execute'
import { serveEveryVersion } from '@market/mcp/serve'
import { unifiedServer } from '@market/mcp/servers'
import { expect, test } from 'vitest'

test('a batch runs its calls one after the other, also after one that fails', async () => {
  const calls: string[] = []
  const execute: Execute = async ({ operation }) => {
    calls.push(`start ${operation.id}`)
    await new Promise((resolve) => setImmediate(resolve))
    calls.push(`end ${operation.id}`)
    if (calls.length === 2) throw new Error('the first call fails')
    return { status: 200, body: { success: true, data: {} }, headers: {} }
  }
  const serve = serveEveryVersion((session) => unifiedServer(execute, session))
  const body = ['market_get_profile', 'market_platform_stats', 'market_list_models'].map((name, id) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name, arguments: {} },
  }))
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const request = new Request('http://localhost/mcp', { method: 'POST', headers })
  const response = await serve(request, body, { address: 'agent:agt_1', requestId: 'r1' })
  expect(await response.json()).toHaveLength(3)
  expect(calls).toEqual([
    ...['start getMyAgent', 'end getMyAgent'],
    ...['start getPlatformStats', 'end getPlatformStats'],
    ...['start listModels', 'end listModels'],
  ])
})

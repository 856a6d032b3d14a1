import { setImmediate as nextTurn } from 'node:timers/promises'
import { findTool, SERVER_INFO, SERVER_OPTIONS } from '@market/contract/tools'
import type { Execute } from '@market/handlers/execute'
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { runAnonymousTool } from './anonymous-tools.ts'
import { runTool, type Session } from './run-tool.ts'
import { ANONYMOUS_LIST, UNIFIED_LIST } from './tool-lists.ts'

const unknownTool = (name: string) =>
  new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name}`)

/** The server of one request. */
export function unifiedServer(execute: Execute, session: Session): Server {
  const server = new Server(SERVER_INFO, SERVER_OPTIONS)
  const inTurn = queue()
  server.setRequestHandler('tools/list', () => ({ tools: UNIFIED_LIST.tools }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const tool = findTool(params.name)
    if (tool === undefined) throw unknownTool(params.name)
    // fix: batch-in-turn
    return inTurn(() => runTool(execute, session, tool, params))
  })
  return server
}

/**
 * Runs the calls of a batch one after the other, so that a batch costs no more at a time than a single call. Requests
 * that arrived meanwhile go first.
 */
function queue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(() => nextTurn()).then(work)
    last = result.catch(() => {})
    return result
  }
}

export const ANONYMOUS_VERSION = '2024-11-05'

/** The server of `POST /api/x402/mcp`: one protocol version, two tools, no credentials. */
export function anonymousServer(execute: Execute, session: Session): Server {
  const server = new Server(SERVER_INFO, {
    capabilities: { tools: {} },
    supportedProtocolVersions: [ANONYMOUS_VERSION],
  })
  server.setRequestHandler('tools/list', () => ({ tools: ANONYMOUS_LIST.tools }))
  server.setRequestHandler('tools/call', async ({ params }) => {
    const result = await runAnonymousTool(execute, session, params)
    if (result === undefined) throw unknownTool(params.name)
    return result
  })
  return server
}

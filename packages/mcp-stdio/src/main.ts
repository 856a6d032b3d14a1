import { findTool, SERVER_INFO, SERVER_OPTIONS, toolList } from '@market/contract/tools'
import { callTool } from '@market/contract/tools/call'
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { sendRequest } from './send-request.ts'
import { readSettings, type Settings } from './settings.ts'
import { callUntilShort, withLimit } from './short-results.ts'

/** The tools of the unified MCP server over stdin and stdout, executed by REST requests. Logs to stderr only. */

const log = (line: string): void => void process.stderr.write(`${line}\n`)

function serverOf(settings: Settings): Server {
  const server = new Server(SERVER_INFO, SERVER_OPTIONS)
  server.setRequestHandler('tools/list', () => ({ tools: toolList() }))
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const called = findTool(params.name)
    if (called === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${params.name}`)
    const call = (limit?: number) =>
      callTool(called, params, (tool, request) =>
        sendRequest(settings, tool, withLimit(request, limit), params, signal),
      )
    return callUntilShort(call)
  })
  return server
}

const settings = readSettings(process.env)
if (typeof settings === 'string') {
  log(settings)
  process.exitCode = 1
} else {
  // The list of tools never changes, so nobody needs to wait for that.
  serveStdio(() => serverOf(settings), { maxSubscriptions: 0, onerror: ({ message }) => log(message) })
  log(
    `Agent Market tools of ${settings.apiUrl}, ${settings.apiKey === undefined ? 'without an API key' : 'with an API key'}.`,
  )
}

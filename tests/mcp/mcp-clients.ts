import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as FirstStdioTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as FirstTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const INFO = { name: 'test', version: '1.0.0' }

/** The result of a tool, as every client returns it. */
export interface ToolResult {
  readonly isError?: boolean
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields whose presence is what it tests
  readonly structuredContent?: any
  readonly content: readonly { readonly type: string; readonly text?: string }[]
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly _meta?: any
}

export interface McpClient {
  readonly list: () => Promise<readonly { readonly name: string }[]>
  readonly call: (
    name: string,
    args?: Record<string, unknown>,
    meta?: Record<string, unknown>,
  ) => Promise<ToolResult>
  readonly version: () => string | undefined
  readonly close: () => Promise<void>
}

const headersOf = (key: string | undefined, from?: string) => ({
  requestInit: {
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(from !== undefined && { 'x-forwarded-for': from }),
    },
  },
})

type Mode = 'auto' | undefined

async function useSecond(transport: Parameters<Client['connect']>[0], mode: Mode): Promise<McpClient> {
  const client = new Client(INFO, mode === undefined ? {} : { versionNegotiation: { mode } })
  await client.connect(transport)
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, meta) =>
      (await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) })) as ToolResult,
    version: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  }
}

type FirstConnection = Parameters<FirstClient['connect']>[0]

async function useFirst(transport: FirstConnection, version: () => string | undefined): Promise<McpClient> {
  const client = new FirstClient(INFO)
  await client.connect(transport)
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, meta) =>
      (await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) })) as ToolResult,
    version,
    close: () => client.close(),
  }
}

/** The official client of the second version. `auto` asks for the newest protocol first. */
export const connectSecond = (
  url: string,
  key: string | undefined,
  mode?: 'auto',
  from?: string,
): Promise<McpClient> =>
  useSecond(new StreamableHTTPClientTransport(new URL(url), headersOf(key, from)), mode)

/** The official client of the first version, which many programs still use. */
function connectFirst(url: string, key: string | undefined): Promise<McpClient> {
  const transport = new FirstTransport(new URL(url), headersOf(key))
  return useFirst(transport as FirstConnection, () => transport.protocolVersion)
}

export const CLIENTS = {
  'client 2': (url: string, key?: string) => connectSecond(url, key),
  'client 2 with the newest protocol': (url: string, key?: string) => connectSecond(url, key, 'auto'),
  'client 1': (url: string, key?: string) => connectFirst(url, key),
} as const

/** A program that speaks MCP over stdin and stdout. */
export interface StdioProgram {
  readonly command: string
  readonly args: string[]
  readonly env: Record<string, string>
}

const quiet = (program: StdioProgram) => ({ ...program, stderr: 'ignore' as const })

/** The same clients, which start the program. */
export const STDIO_CLIENTS = {
  'client 2': (program: StdioProgram) => useSecond(new StdioClientTransport(quiet(program)), undefined),
  'client 2 with the newest protocol': (program: StdioProgram) =>
    useSecond(new StdioClientTransport(quiet(program)), 'auto'),
  'client 1': (program: StdioProgram) => useFirst(new FirstStdioTransport(quiet(program)), () => undefined),
} as const

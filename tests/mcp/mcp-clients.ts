import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
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

const headersOf = (key: string | undefined) => ({
  requestInit: { headers: key === undefined ? {} : { authorization: `Bearer ${key}` } },
})

/** The official client of the second version. `auto` asks for the newest protocol first. */
export async function connectSecond(url: string, key: string | undefined, mode?: 'auto'): Promise<McpClient> {
  const client = new Client(INFO, mode === undefined ? {} : { versionNegotiation: { mode } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), headersOf(key)))
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, meta) =>
      (await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) })) as ToolResult,
    version: () => client.getNegotiatedProtocolVersion(),
    close: () => client.close(),
  }
}

/** The official client of the first version, which many programs still use. */
export async function connectFirst(url: string, key: string | undefined): Promise<McpClient> {
  const client = new FirstClient(INFO)
  const transport = new FirstTransport(new URL(url), headersOf(key))
  await client.connect(transport as Parameters<typeof client.connect>[0])
  return {
    list: async () => (await client.listTools()).tools,
    call: async (name, args = {}, meta) =>
      (await client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) })) as ToolResult,
    version: () => transport.protocolVersion,
    close: () => client.close(),
  }
}

export const CLIENTS = {
  'client 2': (url: string, key?: string) => connectSecond(url, key),
  'client 2 with the newest protocol': (url: string, key?: string) => connectSecond(url, key, 'auto'),
  'client 1': (url: string, key?: string) => connectFirst(url, key),
} as const

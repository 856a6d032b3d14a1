import { someAddress } from '../support/client.ts'

/** JSON-RPC over plain HTTP, for what the official clients do not send. */

type Fields = Readonly<Record<string, unknown>>

export interface RawReply {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields whose presence is what it tests
  readonly body: any
}

export const NEWEST = '2026-07-28'

export const message = (method: string, params: Fields = {}, id: number | string = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
})

export const toolCall = (name: string, args: Fields = {}, id: number | string = 1, meta?: Fields) =>
  message('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) }, id)

/** A message of 2026-07-28, which names its version, and the headers that repeat it. */
export function newestMessage(method: string, params: Fields = {}, version = NEWEST) {
  const _meta = {
    ...(params['_meta'] as Fields | undefined),
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const { name } = params
  return {
    body: message(method, { ...params, _meta }),
    headers: {
      'mcp-protocol-version': version,
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
  }
}

/** From a new client address unless the headers name one. */
export async function post(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawReply> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': someAddress(), ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

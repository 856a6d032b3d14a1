import type { IncomingHttpHeaders } from 'node:http'
import { findTool, SERVER_INFO, type ServedTool } from '@market/contract/tools'
import type { ToolCall } from '@market/contract/tools/call'
import type { ToolResult } from '@market/contract/tools/results'

type Fields = Readonly<Record<string, unknown>>

const NEWEST = '2026-07-28'
/** Versions whose calls have no envelope. A client need not name one. */
const OLDER: ReadonlySet<unknown> = new Set([undefined, '2025-03-26', '2025-06-18', '2025-11-25'])
const ENVELOPE_PREFIX = 'io.modelcontextprotocol/'
const [VERSION, CLIENT, CAPABILITIES] = ['protocolVersion', 'clientInfo', 'clientCapabilities'].map(
  (name) => ENVELOPE_PREFIX + name,
) as [string, string, string]

const MESSAGE_FIELDS = new Set(['jsonrpc', 'id', 'method', 'params'])
const CALL_FIELDS = new Set(['name', 'arguments', '_meta'])
const CLIENT_FIELDS = new Set(['name', 'version', 'title'])
const CAPABILITY_FIELDS = new Set(['elicitation', 'roots', 'sampling', 'experimental'])
const ENVELOPE_FIELDS = new Set([VERSION, CLIENT, CAPABILITIES])

/** A call of a tool that needs nothing of the protocol but its envelope. */
export interface PlainCall {
  readonly tool: ServedTool
  readonly call: ToolCall
  /** The response with the result of the tool, as JSON. */
  readonly respond: (result: ToolResult) => string
}

/**
 * Recognizes the plainest form of a valid `tools/call`, which is most calls. It is served without the SDK, whose objects take
 * several times the processor time of a read. Whatever differs in the least is left to the SDK, and so is every error of the
 * protocol.
 */
export function plainCallOf(headers: IncomingHttpHeaders, body: unknown): PlainCall | undefined {
  if (!isObject(body) || !hasOnly(body, MESSAGE_FIELDS)) return undefined
  const { jsonrpc, id, method, params } = body
  if (jsonrpc !== '2.0' || method !== 'tools/call' || !isId(id)) return undefined
  if (!isObject(params) || !hasOnly(params, CALL_FIELDS)) return undefined
  const { name, arguments: given = {}, _meta: meta = {} } = params
  if (typeof name !== 'string' || !isObject(given) || !isObject(meta)) return undefined
  const tool = findTool(name)
  if (tool === undefined || !isJson(headers) || meta['progressToken'] !== undefined) return undefined
  const isNewest = headers['mcp-protocol-version'] === NEWEST
  if (isNewest ? !isNewestCall(headers, name, meta) : !isOlderCall(headers, meta)) return undefined
  return {
    tool,
    call: { arguments: given, _meta: meta },
    respond: (result) => JSON.stringify({ result: isNewest ? inEnvelope(result) : result, jsonrpc, id }),
  }
}

const isJson = (headers: IncomingHttpHeaders): boolean =>
  /^application\/json(; charset=utf-8)?$/i.test(headers['content-type'] ?? '')

const isNewestCall = (headers: IncomingHttpHeaders, name: string, meta: Fields): boolean =>
  headers['mcp-method'] === 'tools/call' &&
  headers['mcp-name'] === name &&
  meta[VERSION] === NEWEST &&
  isClient(meta[CLIENT]) &&
  isCapabilities(meta[CAPABILITIES]) &&
  Object.keys(meta).every((key) => !key.startsWith(ENVELOPE_PREFIX) || ENVELOPE_FIELDS.has(key))

const isOlderCall = (headers: IncomingHttpHeaders, meta: Fields): boolean =>
  OLDER.has(headers['mcp-protocol-version']) &&
  headers['mcp-method'] === undefined &&
  headers['mcp-name'] === undefined &&
  headers['mcp-session-id'] === undefined &&
  Object.keys(meta).every((key) => !key.startsWith(ENVELOPE_PREFIX))

const inEnvelope = (result: ToolResult) => ({
  ...result,
  resultType: 'complete',
  _meta: { ...result._meta, [`${ENVELOPE_PREFIX}serverInfo`]: SERVER_INFO },
})

const isClient = (client: unknown): boolean =>
  isObject(client) &&
  hasOnly(client, CLIENT_FIELDS) &&
  client['name'] !== undefined &&
  client['version'] !== undefined &&
  Object.values(client).every((value) => typeof value === 'string')

const isCapabilities = (capabilities: unknown): boolean =>
  isObject(capabilities) &&
  hasOnly(capabilities, CAPABILITY_FIELDS) &&
  Object.values(capabilities).every((one) => isObject(one) && Object.keys(one).length === 0)

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id)

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const hasOnly = (fields: Fields, known: ReadonlySet<string>): boolean =>
  Object.keys(fields).every((key) => known.has(key))

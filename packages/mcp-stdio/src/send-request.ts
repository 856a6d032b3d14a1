import { checkInput } from '@market/contract/check-input'
import { type HttpRequest, requestOf, UnsendableError } from '@market/contract/client'
import { CLIENT_HEADER, OLDEST_HEADER, outdatedMessage } from '@market/contract/client-versions'
import { isWrite } from '@market/contract/define'
import { idempotencyKeyOf, type ToolCall, type ToolRequest } from '@market/contract/tools/call'
import type { Tool } from '@market/contract/tools/define'
import { RESULT_HEADERS, type ToolResponse } from '@market/contract/tools/results'
import manifest from '../package.json' with { type: 'json' }
import type { Settings } from './settings.ts'

const TIMEOUT_MS = 60_000

const CLIENT = `mcp-stdio/${manifest.version}`

type Fields = Readonly<Record<string, unknown>>

/** Sends the request of a tool to the API. */
export async function sendRequest(
  settings: Settings,
  tool: Tool,
  request: ToolRequest,
  { arguments: given = {}, _meta: meta }: ToolCall,
  signal: AbortSignal,
): Promise<ToolResponse> {
  // A public GET ignores unknown fields, and a tool can accept less than its operation.
  const checked = checkInput(tool.input, given)
  if ('invalid' in checked) return invalid(checked.invalid.message, { details: checked.invalid.details })
  const { input, wallet, payment } = request
  const bearer = wallet === undefined ? settings.apiKey : undefined
  const idempotencyKey = idempotencyKeyOf(meta)
  let http: HttpRequest
  try {
    http = requestOf(tool.operation, input, { bearer, wallet, payment, idempotencyKey })
  } catch (error) {
    if (error instanceof UnsendableError) return invalid(error.message)
    throw error
  }
  const { method, path, headers, body = null } = http
  try {
    const response = await fetch(settings.apiUrl + path, {
      method,
      headers: { ...headers, [CLIENT_HEADER]: CLIENT },
      body,
      // Another address does not get the API key.
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    tellOnce(settings, response.headers.get(OLDEST_HEADER))
    return withHint(settings, request, await readResponse(settings, response))
  } catch (error) {
    return failure(503, 'unavailable', `${whyFailed(settings, error)} ${whatNext(tool)}`)
  }
}

let isTold = false

function tellOnce({ apiUrl }: Settings, oldest: string | null): void {
  if (oldest === null || isTold) return
  isTold = true
  process.stderr.write(`${outdatedMessage(CLIENT, oldest, apiUrl)}\n`)
}

async function readResponse({ apiUrl }: Settings, response: Response): Promise<ToolResponse> {
  const { status } = response
  const body = parseObject(await response.text())
  if (body === undefined || (status >= 300 && status < 400))
    return failure(
      502,
      'bad_response',
      `${apiUrl} sent a response of status ${status} that is not one of Agent Market. Check MARKET_API_URL.`,
    )
  const headers = RESULT_HEADERS.flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return { status, body, headers: Object.fromEntries(headers) }
}

function parseObject(text: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : undefined
  } catch {
    return undefined
  }
}

const failure = (status: number, code: string, error: string, more: Fields = {}): ToolResponse => ({
  status,
  body: { success: false, error, code, ...more },
  headers: {},
})

const invalid = (message: string, more?: Fields) => failure(400, 'invalid_input', message, more)

/** Who has no API key learns where to set it. */
function withHint(
  { apiKey }: Settings,
  { wallet }: ToolRequest,
  { status, body, headers }: ToolResponse,
): ToolResponse {
  if (status !== 401 || apiKey !== undefined || wallet !== undefined) return { status, body, headers }
  const { error, ...rest } = body as Fields
  const hint = 'Set MARKET_API_KEY to the API key of your agent and start this server again.'
  return { status, body: { ...rest, error: `${error} ${hint}` }, headers }
}

function whyFailed({ apiUrl }: Settings, error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `${apiUrl} did not respond within ${TIMEOUT_MS / 1_000} seconds.`
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined
  return `${apiUrl} cannot be reached${typeof cause?.code === 'string' ? ` (${cause.code})` : ''}.`
}

const whatNext = ({ operation }: Tool): string =>
  isWrite(operation)
    ? 'The call may have been carried out: check before you call again, or repeat it with the same market/idempotency-key.'
    : 'Try again in a moment.'

import { checkInput } from '@market/contract/check-input'
import { requestOf, UnsendableError } from '@market/contract/client'
import { isWrite, type Operation, type ResponseOf } from '@market/contract/define'
import { type OperationId, type Operations, operationList, operations } from '@market/contract/operations'
import type { Settings } from './settings.ts'
import { loadLogin } from './token-file.ts'

const TIMEOUT_MS = 60_000

export const LOGIN_COMMAND = 'npm run admin -- login'

type Fields = Readonly<Record<string, unknown>>

/** A request that failed: what is wrong, and what to do. */
export class CallError extends Error {
  override readonly name = 'CallError'
}

/** Whether operators call it. */
const isForOperators = ({ callers }: Operation): boolean =>
  callers.includes('admin') || callers.includes('admin_key')

export const operatorOperations = operationList.filter(isForOperators) as readonly Operation<OperationId>[]

/** Sends an operation, and returns the body of the response. */
export async function callOperation<Id extends OperationId>(
  settings: Settings,
  id: Id,
  input: Fields,
): Promise<ResponseOf<Operations[Id]>> {
  const operation: Operation = operations[id]
  const checked = checkInput(operation.input, input)
  if ('invalid' in checked) throw new CallError(`${checked.invalid.message}.`)
  const bearer = await credentialFor(settings, operation)
  const response = await send(settings, operation, input, bearer)
  const body = parseObject(await response.text())
  if (body === undefined)
    throw new CallError(
      `${settings.apiUrl} sent a response of status ${response.status} that is not one of Agent Market. Check MARKET_API_URL.`,
    )
  if (!response.ok) throw new CallError(describeFailure(response, body))
  return body as ResponseOf<Operations[Id]>
}

/** The login where the operation takes one, else the operator's key. */
async function credentialFor(
  { apiUrl, adminKey, tokenFile }: Settings,
  operation: Operation,
): Promise<string> {
  const { id, callers } = operation
  const key = callers.includes('admin_key') ? adminKey : undefined
  if (!callers.includes('admin')) {
    if (key !== undefined) return key
    throw new CallError(`${id} needs an operator’s key. Set ADMIN_KEY.`)
  }
  const login = await loadLogin(tokenFile)
  const isValid = login !== undefined && login.api_url === apiUrl && Date.parse(login.expires_at) > Date.now()
  if (isValid) return login.access_token
  if (key !== undefined) return key
  if (login === undefined) throw new CallError(`You are not logged in. Run: ${LOGIN_COMMAND}`)
  if (login.api_url !== apiUrl)
    throw new CallError(`You are logged in to ${login.api_url}, not to ${apiUrl}. Run: ${LOGIN_COMMAND}`)
  throw new CallError(`Your login expired at ${login.expires_at}. Log in again: ${LOGIN_COMMAND}`)
}

async function send(
  { apiUrl }: Settings,
  operation: Operation,
  input: Fields,
  bearer: string,
): Promise<Response> {
  try {
    const { method, path, headers, body = null } = requestOf(operation, input, { bearer })
    // Another address does not get the credential.
    const options = { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) } as const
    return await fetch(apiUrl + path, { method, headers, body, ...options })
  } catch (error) {
    if (error instanceof UnsendableError) throw new CallError(`${error.message}.`)
    const next = isWrite(operation)
      ? 'It may have been carried out: check before you repeat it.'
      : 'Try again in a moment.'
    throw new CallError(`${apiUrl} cannot be reached. ${next}`)
  }
}

function parseObject(text: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null ? (parsed as Fields) : undefined
  } catch {
    return undefined
  }
}

function describeFailure(response: Response, body: Fields): string {
  const { error, code, request_id } = body
  const lines = [`${error} (${response.status} ${code})`, nextStep(response, code), `request ${request_id}`]
  return lines.filter((line) => line !== undefined).join('\n')
}

/** What to do about an error whose message is written for API clients. */
function nextStep({ status, headers }: Response, code: unknown): string | undefined {
  if (status === 401) return `Log in again: ${LOGIN_COMMAND}`
  if (code === 'wrong_credential')
    return `This account or key cannot do that. An operator is listed in ADMIN_USER_IDS of the API and has the admin claim. Log in with such an account: ${LOGIN_COMMAND}`
  if (code === 'second_operator_required') return 'Ask another operator to approve it.'
  const wait = headers.get('retry-after')
  return wait === null ? undefined : `Try again in ${wait} seconds.`
}

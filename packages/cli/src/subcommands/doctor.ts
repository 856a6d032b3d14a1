import { stat } from 'node:fs/promises'
import type { Operations } from '@market/sdk'
import { command } from '../command.ts'
import { describeError } from '../describe-error.ts'
import type { Session } from '../session.ts'
import type { Check } from '../terminal/printer.ts'
import { VERSION } from '../version.ts'

type OwnAgent = Operations['getMyAgent']['data']

const OLDEST_NODE = 20
const TIMEOUT_MS = 10_000
/** Signatures of wallets are valid for five minutes. */
const CLOCK_FAILS_SECONDS = 240
const CLOCK_WARNS_SECONDS = 30

export const doctor = command({
  name: 'doctor',
  summary: 'Check this machine, the API, your credentials and your agent',
  options: {
    'no-webhook-test': { type: 'boolean', about: 'do not send a test event to the endpoint of your agent' },
  },
  notes: ['Prints no secrets. Every problem comes with the command that helps.'],
  run: async ({ values }, session) => {
    const checks = await session.during('Checking …', () => allChecks(session, !values['no-webhook-test']))
    const ok = checks.every(({ result }) => result !== 'FAILED')
    return {
      json: { ok, version: VERSION, checks },
      status: ok ? 0 : 1,
      print: (printer) => printer.checks(checks),
    }
  },
})

async function allChecks(session: Session, testsWebhook: boolean): Promise<Check[]> {
  const checks = [checkNode(process.versions.node), await checkConfig(session)]
  const api = await checkApi(session)
  checks.push(...api.checks)
  if (!api.isReachable) return checks
  checks.push(await checkUser(session))
  const { check, agent } = await checkAgentKey(session)
  checks.push(check)
  if (agent !== undefined) checks.push(...checkAgent(agent), await checkWebhook(session, agent, testsWebhook))
  return checks
}

const ok = (check: string, detail: string): Check => ({ result: 'ok', check, detail })
const warning = (check: string, detail: string, next?: string): Check => ({
  result: 'warning',
  check,
  detail,
  next,
})
const failed = (check: string, detail: string, next?: string): Check => ({
  result: 'FAILED',
  check,
  detail,
  next,
})
const skipped = (check: string, detail: string, next?: string): Check => ({
  result: 'skipped',
  check,
  detail,
  next,
})

export function checkNode(version: string): Check {
  const major = Number(version.split('.')[0])
  if (major < OLDEST_NODE) return failed('node', `${version} is too old; ${OLDEST_NODE} or newer is needed`)
  return ok('node', version)
}

async function checkConfig({ settings: { path, profileName } }: Session): Promise<Check> {
  const found = await stat(path).catch(() => undefined)
  return found === undefined
    ? skipped('settings', `there is no ${path} yet`, 'market config set api_url https://api.example')
    : ok('settings', `profile ${profileName} of ${path}, which only you can read`)
}

interface ApiChecks {
  readonly checks: readonly Check[]
  readonly isReachable: boolean
}

async function checkApi({ settings }: Session): Promise<ApiChecks> {
  let apiUrl: string
  try {
    apiUrl = settings.apiUrl()
  } catch (error) {
    const { message, next } = describeError(error)
    return {
      checks: [failed('api', message, next ?? 'market config set api_url https://api.example')],
      isReachable: false,
    }
  }
  try {
    const began = Date.now()
    const response = await get(`${apiUrl}/readyz`)
    const roundTripMs = Date.now() - began
    const { status } = (await response.json().catch(() => ({}))) as { status?: unknown }
    const clock = checkClock(response.headers.get('date'), Date.now() - roundTripMs / 2)
    if (typeof status !== 'string')
      return {
        checks: [failed('api', `${apiUrl} is not an API of Agent Market`, 'market config')],
        isReachable: false,
      }
    const version = await readVersion(apiUrl)
    const api =
      status === 'ready'
        ? ok('api', `${apiUrl}, version ${version}, ready in ${roundTripMs} ms`)
        : failed('api', `${apiUrl}, version ${version}, is ${status}. Try again in a minute`, 'market doctor')
    return { checks: [api, clock], isReachable: true }
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined
    const why = typeof cause?.code === 'string' ? ` (${cause.code})` : ''
    return {
      checks: [failed('api', `${apiUrl} cannot be reached${why}`, 'market config')],
      isReachable: false,
    }
  }
}

const get = (url: string): Promise<Response> =>
  fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })

async function readVersion(apiUrl: string): Promise<string> {
  const response = await get(`${apiUrl}/api/openapi.json`)
  const { info } = (await response.json().catch(() => ({}))) as { info?: { version?: unknown } }
  return String(info?.version ?? 'unknown')
}

/** The `Date` header has whole seconds. */
export function checkClock(date: string | null, now: number): Check {
  const at = Date.parse(date ?? '')
  if (Number.isNaN(at)) return skipped('clock', 'the API sent no Date')
  const seconds = Math.round((now - at) / 1_000)
  const detail = `${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} the API`
  if (Math.abs(seconds) >= CLOCK_FAILS_SECONDS)
    return failed('clock', `${detail}: signatures are rejected. Set the clock of this machine`)
  if (Math.abs(seconds) >= CLOCK_WARNS_SECONDS)
    return warning('clock', `${detail}. Set the clock of this machine`)
  return ok('clock', Math.abs(seconds) <= 1 ? 'the same time as the API' : detail)
}

async function checkUser(session: Session): Promise<Check> {
  const { login } = session.settings.profile
  try {
    if (session.settings.credential('user') === undefined)
      return login === undefined
        ? skipped('user', 'not logged in', 'market login')
        : warning('user', `the login expired at ${login.expires_at}, or is for another API`, 'market login')
    const { user } = await session.signedIn('user').market.getProfile()
    return ok('user', user.display_name ?? user.username ?? user.idp_user_id)
  } catch (error) {
    const { message, next } = describeError(error)
    return failed('user', message, next)
  }
}

async function checkAgentKey(session: Session): Promise<{ check: Check; agent?: OwnAgent }> {
  try {
    const credential = session.settings.credential('agent')
    if (credential === undefined)
      return { check: skipped('agent', 'no API key', 'market register --name "…" --description "…"') }
    const agent = await session.signedIn('agent').market.getMyAgent()
    return { check: ok('agent', `${agent.name} (${agent.id}), by ${credential.source}`), agent }
  } catch (error) {
    const { message, next } = describeError(error)
    return { check: failed('agent', message, next) }
  }
}

function checkAgent({ marketable, payable_on, pending_payout }: OwnAgent): Check[] {
  return [
    marketable
      ? ok('visible', 'buyers can find the agent')
      : warning('visible', 'the agent has no owner, so it is hidden', 'market agent link'),
    payable_on.length > 0
      ? ok('paid on', payable_on.join(', '))
      : warning(
          'paid on',
          pending_payout === null
            ? 'nobody can pay the agent'
            : `nothing before ${pending_payout.effective_at}`,
          'market agent update --payout-address-base 0x…',
        ),
  ]
}

async function checkWebhook(session: Session, { endpoint_url }: OwnAgent, tests: boolean): Promise<Check> {
  if (endpoint_url === null)
    return skipped(
      'webhook',
      'the agent has no endpoint',
      'market events listen --forward-to http://localhost:3000/hook',
    )
  if (!tests) return skipped('webhook', `${endpoint_url} is not tested`)
  try {
    const { delivery, took_ms } = await session.signedIn('agent').market.testDelivery({ agent_id: 'me' })
    if (delivery.status === 'delivered')
      return ok('webhook', `${endpoint_url} responded ${delivery.response_status} in ${took_ms} ms`)
    const why = delivery.failure ?? `it responded ${delivery.response_status}`
    return failed('webhook', `${endpoint_url}: ${why}`, 'market agent update --endpoint-url https://…')
  } catch (error) {
    const { message, next } = describeError(error)
    return failed('webhook', message, next)
  }
}

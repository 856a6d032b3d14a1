import { createHash, createHmac, randomBytes } from 'node:crypto'
import { isLocal } from '@market/contract/api-url'
import { type Market, newestCursor } from '@market/sdk'
import { command } from '../command.ts'
import { wholeNumber } from '../options.ts'
import type { Environment, Session } from '../session.ts'
import { untilAborted } from '../terminal/interruption.ts'
import type { Column } from '../terminal/table.ts'
import { UsageError } from '../usage-error.ts'

/** As long as the API waits for an endpoint. */
const FORWARD_TIMEOUT_MS = 5_000

interface Event {
  readonly cursor: string
  readonly event: string
  readonly order_id: string
  readonly data: unknown
  readonly created_at: string
}

const ROLE = {
  type: 'string',
  value: 'seller|buyer',
  about: 'of what your agent sells (unless given), or you bought',
} as const

function roleOf(text: string | undefined): 'seller' | 'buyer' {
  if (text !== undefined && text !== 'seller' && text !== 'buyer')
    throw new UsageError(`--role is ${text}. Write --role seller or --role buyer.`)
  return text ?? 'seller'
}

/** Only agents sell; users and agents buy. */
const readerOf = (session: Session, role: 'seller' | 'buyer'): Market =>
  (role === 'seller' ? session.signedIn('agent') : session.signedIn('user', 'agent')).market

export const EVENT_COLUMNS: readonly Column[] = [
  { title: 'CURSOR', align: 'right' },
  { title: 'TIME', leftOut: 1 },
  { title: 'EVENT' },
  { title: 'ORDER' },
]

export const listEvents = command({
  name: 'events list',
  summary: 'List stored events, oldest first',
  options: {
    role: ROLE,
    after: { type: 'string', value: 'cursor', about: 'events after this one; the oldest first unless given' },
    limit: { type: 'string', value: 'n', about: 'how many to show; 20 unless given' },
  },
  run: async ({ values }, session) => {
    const role = roleOf(values.role)
    const limit = wholeNumber('limit', values.limit) ?? 20
    const { data, next_cursor } = await readerOf(session, role).listEvents({
      role,
      limit,
      after: values.after ?? '0',
    })
    return {
      json: { data, next_cursor },
      print: (printer) => {
        if (data.length === 0) printer.text('There are no more events.')
        else
          printer.table(
            EVENT_COLUMNS,
            data.map(({ cursor, created_at, event, order_id }) => [
              cursor,
              timeOf(created_at),
              event,
              order_id || '-',
            ]),
          )
        if (data.length === limit) printer.next(`market events list --after ${next_cursor}`)
      },
    }
  },
})

const timeOf = (iso: string): string => iso.slice(0, 19).replace('T', ' ')

export const listen = command({
  name: 'events listen',
  summary: 'Follow events, and forward them to a local URL, signed like webhooks',
  options: {
    'forward-to': {
      type: 'string',
      value: 'url',
      about: 'POST each event to this URL, for example http://localhost:3000/hook',
    },
    role: ROLE,
    after: {
      type: 'string',
      value: 'cursor',
      about: 'start after this event; with the next new one unless given',
    },
    'from-start': { type: 'boolean', about: 'start with the oldest event' },
  },
  notes: [
    'A lost connection is opened again after the last event. Ctrl-C ends it.',
    'MARKET_WEBHOOK_SECRET signs what is forwarded. Without it, a new secret is used and printed.',
    'Each event is forwarded once, in order. With --json, stdout has one line for each event.',
  ],
  examples: ['market events listen --forward-to http://localhost:3000/hook'],
  endsItself: true,
  run: async ({ values }, session) => {
    const role = roleOf(values.role)
    const target = values['forward-to'] === undefined ? undefined : forwardUrl(values['forward-to'], role)
    const market = readerOf(session, role)
    const { signal } = session
    const agentId = role === 'seller' ? (await untilAborted(market.getMyAgent(), signal)).id : ''
    const { secret, shown } = signingSecret(session.environment)
    const after =
      values.after ?? (values['from-start'] ? '0' : await untilAborted(newestCursor(market, role), signal))
    if (!/^\d{1,18}$/.test(after))
      throw new UsageError(`--after is ${after}. Write the cursor of an event, a number.`)
    session.printer.note(
      target === undefined
        ? `Listening for events after ${after}. Ctrl-C ends it.`
        : `Forwarding events after ${after} to ${target.href}\nSigning secret: ${shown}\nCtrl-C ends it.`,
      'plain',
    )
    const last = await follow(session, market, { role, after }, async (event) =>
      target === undefined ? undefined : forward(target, event, { agentId, secret, signal }),
    )
    const options = [
      ...(target === undefined ? [] : [`--forward-to ${target.href}`]),
      ...(role === 'buyer' ? ['--role buyer'] : []),
      `--after ${last}`,
    ]
    session.printer.note(`Continue with: market events listen ${options.join(' ')}`)
    return undefined
  },
})

/** A variable, because other users of the machine can read arguments. Only a generated secret is shown. */
export function signingSecret(environment: Environment): { readonly secret: string; readonly shown: string } {
  const given = environment['MARKET_WEBHOOK_SECRET'] || undefined
  if (given !== undefined) return { secret: given, shown: 'as in MARKET_WEBHOOK_SECRET' }
  const secret = `whsec_${randomBytes(24).toString('hex')}`
  return { secret, shown: secret }
}

function forwardUrl(text: string, role: 'seller' | 'buyer'): URL {
  const example = 'market events listen --forward-to http://localhost:3000/hook'
  if (role === 'buyer')
    throw new UsageError(
      'Only events of agents are sent by webhook, so --role buyer cannot be forwarded.',
      example,
    )
  if (!URL.canParse(text)) throw new UsageError(`--forward-to ${text} is not a URL.`, example)
  const url = new URL(text)
  if (url.protocol !== 'https:' && !isLocal(url))
    throw new UsageError(
      '--forward-to must begin with https://. Only this machine may have http://.',
      example,
    )
  return url
}

/** Prints each event and what came of it, until Ctrl-C. Returns the cursor of the last one. */
async function follow(
  { printer, isJson, signal }: Session,
  market: Market,
  { role, after }: { readonly role: 'seller' | 'buyer'; readonly after: string },
  handle: (event: Event) => Promise<Forwarded | undefined>,
): Promise<string> {
  let last = after
  const events: AsyncIterable<Event> =
    role === 'buyer' ? market.events({ role, after, signal }) : market.events({ role, after, signal })
  for await (const event of events) {
    const forwarded = await handle(event)
    if (signal.aborted && forwarded?.failure !== undefined) break
    last = event.cursor
    if (isJson) printer.jsonLine({ ...event, ...(forwarded && { forwarded }) })
    else {
      const { cursor, event: name, order_id, created_at } = event
      printer.text(
        `${timeOf(created_at)}  ${cursor.padStart(4)}  ${name.padEnd(24)}  ${order_id || '-'}${resultText(forwarded)}`,
      )
    }
  }
  return last
}

interface Forwarded {
  readonly status: number | null
  readonly failure?: string
  readonly took_ms: number
}

const resultText = (forwarded: Forwarded | undefined): string => {
  if (forwarded === undefined) return ''
  const { status, failure, took_ms } = forwarded
  return `  → ${failure ?? status} (${took_ms} ms)`
}

interface Signing {
  readonly agentId: string
  readonly secret: string
}

/** The request that the API would send to `endpoint_url`. */
export function webhookOf({ event, order_id, data, cursor }: Event, { agentId, secret }: Signing, at: Date) {
  const body = JSON.stringify({ event, order_id, data })
  const t = Math.floor(at.getTime() / 1_000)
  const v1 = createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'AgentMarket-Webhooks/1.0',
      'X-Market-Event': event,
      'X-Market-Agent-Id': agentId,
      'X-Market-Delivery-Id': deliveryId(agentId, cursor),
      'X-Market-Signature': `t=${t},v1=${v1}`,
    },
  }
}

/** A UUID that is the same whenever this event is forwarded. */
function deliveryId(agentId: string, cursor: string): string {
  const hex = createHash('sha256').update(`${agentId}:${cursor}`).digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-')
}

async function forward(
  url: URL,
  event: Event,
  signing: Signing & { readonly signal: AbortSignal },
): Promise<Forwarded> {
  const { body, headers } = webhookOf(event, signing, new Date())
  const began = performance.now()
  const took = () => Math.round(performance.now() - began)
  try {
    const signal = AbortSignal.any([signing.signal, AbortSignal.timeout(FORWARD_TIMEOUT_MS)])
    const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal })
    await response.arrayBuffer()
    return { status: response.status, took_ms: took() }
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined
    const isTimeout = error instanceof Error && error.name === 'TimeoutError'
    const failure = isTimeout ? 'no response within 5 s' : String(cause?.code ?? 'no response')
    return { status: null, failure, took_ms: took() }
  }
}

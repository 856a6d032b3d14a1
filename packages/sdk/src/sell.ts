import type { EventOptions, SellerEvent } from './events.ts'
import type { Calls } from './generated/calls.ts'
import { newestCursor } from './newest-cursor.ts'
import { OrderWorker, type WorkCalls } from './order-worker.ts'
import { reportError, type SellOptions, type ServiceFields } from './sell-options.ts'
import { sleep } from './send.ts'
import { verifyWebhookRequest, WebhookError, type WebhookEvent } from './webhooks.ts'

type Seller = WorkCalls &
  Pick<Calls, 'createService' | 'getService' | 'listAgentServices' | 'listEvents'> & {
    readonly events: (options: EventOptions & { readonly role?: 'seller' }) => AsyncIterable<SellerEvent>
  }

export interface WebhookSellOptions extends SellOptions {
  /** `webhook_secret` of the agent. */
  readonly secret: string
}

export interface WebhookSeller {
  /** Verifies a webhook, responds at once and works afterwards. Give it every request of your endpoint. */
  readonly fetch: (request: Request) => Promise<Response>
  /** Resolves when no order is being worked on, for hosts that end a program after its response. */
  readonly settled: () => Promise<void>
}

/** Sells a service until `signal` is aborted, with the stream of events. */
export async function sell(market: Seller, options: SellOptions): Promise<void> {
  requireWork(options)
  const ended = new AbortController()
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal
  const serviceId = await findService(market, options.service)
  // Read before the open orders, so that no event between the two is missed.
  const after = await newestCursor(market)
  const worker = new OrderWorker(market, serviceId, options, signal)
  try {
    await worker.addOpenOrders()
    options.onProgress?.({ step: 'ready', serviceId })
    for await (const event of market.events({ after, signal })) addWork(worker, event)
  } finally {
    ended.abort()
    await worker.settled()
  }
}

/** How often a seller with webhooks reads the open orders, for those of which no webhook came. */
const RECHECK_MS = 60_000
const RETRY_MS = 5_000

/** Sells a service with webhooks. */
export function webhookSeller(market: Seller, options: WebhookSellOptions): WebhookSeller {
  requireWork(options)
  const { secret, signal = new AbortController().signal } = options
  const starting = (async () => {
    for (;;)
      try {
        const serviceId = await findService(market, options.service)
        const worker = new OrderWorker(market, serviceId, options, signal)
        await worker.addOpenOrders()
        options.onProgress?.({ step: 'ready', serviceId })
        return worker
      } catch (error) {
        reportError(options, error, undefined)
        await sleep(RETRY_MS, signal)
      }
  })()
  // Only the end of the signal rejects it.
  starting.catch(() => undefined)
  const timer = setInterval(() => {
    starting.then((worker) => worker.addOpenOrders()).catch((error) => reportError(options, error, undefined))
  }, RECHECK_MS)
  // Node ends when nothing else is open; browsers have no such function.
  ;(timer as { unref?: () => void }).unref?.()
  signal.addEventListener('abort', () => clearInterval(timer), { once: true })
  return {
    fetch: async (request) => {
      if (request.method !== 'POST')
        return new Response('Send a webhook with POST.\n', { status: 405, headers: { Allow: 'POST' } })
      try {
        const event = await verifyWebhookRequest(request, secret)
        starting.then((worker) => addWork(worker, event)).catch(() => undefined)
        return new Response(null, { status: 204 })
      } catch (error) {
        if (!(error instanceof WebhookError)) throw error
        return new Response(`${error.message}\n`, { status: error.reason === 'body_too_large' ? 413 : 401 })
      }
    },
    settled: async () => (await starting).settled(),
  }
}

/** The events after which there is something to do for an order. By x402 an order is paid when it is created. */
const WORK_EVENTS: ReadonlySet<string> = new Set(['order.created', 'order.paid', 'order.revision_requested'])

function addWork(worker: OrderWorker, event: SellerEvent | WebhookEvent): void {
  if (event.event === 'workspace.generate') worker.addGeneration(event.order_id, event.data.deliverable_id)
  else if (WORK_EVENTS.has(event.event)) worker.add(event.order_id)
}

function requireWork({ work, onGenerate }: SellOptions): void {
  if (work === undefined && onGenerate === undefined)
    throw new TypeError(
      'Pass work, which delivers orders, or onGenerate, which answers requests of workspaces.',
    )
}

async function findService(market: Seller, service: string | ServiceFields): Promise<string> {
  if (typeof service === 'string') return (await market.getService({ service_id: service })).id
  const { id: agent_id } = await market.getMyAgent()
  for await (const one of market.listAgentServices({ agent_id }))
    if (one.active && one.title === service.title) return one.id
  return (await market.createService({ ...service, agent_id })).id
}

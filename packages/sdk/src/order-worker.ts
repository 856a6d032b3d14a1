import type { Calls } from './calls.ts'
import { MarketError } from './errors.ts'
import type { Operations, Order } from './generated/types.ts'
import { sleep } from './send.ts'

/** One thing that is delivered: a text, code, a link or a file. */
export type Deliverable = NonNullable<Operations['deliverOrder']['input']['deliverables']>[number]

/** What was made for an order. A text is delivered as one deliverable. */
export type WorkResult =
  | string
  | readonly Deliverable[]
  | { readonly deliverables: readonly Deliverable[]; readonly note?: string }

/** An order to work on. `order.complaint` is what the buyer wants changed when it is a revision. */
export interface Job {
  readonly order: Order
  /** Aborted when the seller ends. */
  readonly signal: AbortSignal
}

export type SellerProgress =
  | { readonly step: 'ready'; readonly serviceId: string }
  | { readonly step: 'working'; readonly orderId: string }
  | { readonly step: 'delivered'; readonly orderId: string }

/** The fields of a service to offer. */
export type ServiceFields = Omit<Operations['createService']['input'], 'agent_id'>

export interface SellOptions {
  /** The id of a service, or its fields: an active service of the agent with the same title is used, else it is created. */
  readonly service: string | ServiceFields
  /**
   * Does the work. When it throws, the order stays undone and is tried again after a while. When only the delivery fails,
   * its result is delivered again without another call.
   */
  readonly work: (job: Job) => WorkResult | Promise<WorkResult>
  /** Called with the reason why an order was not delivered. By default the message is written to the console. */
  readonly onError?: (error: unknown, order: Order | undefined) => void
  readonly onProgress?: (progress: SellerProgress) => void
  /** Ends the seller after the work in progress. */
  readonly signal?: AbortSignal
  /** How many orders are worked on at once; 4 by default. */
  readonly concurrency?: number
}

export type WorkCalls = Pick<Calls, 'deliverOrder' | 'getMyAgent' | 'getOrder' | 'listAgentOrders'>

const OPEN: ReadonlySet<Order['status']> = new Set(['paid', 'in_progress', 'revision_requested'])
/** The same result would be rejected again. */
const NOT_ACCEPTABLE: ReadonlySet<number> = new Set([400, 413])
const CONCURRENCY = 4
const FIRST_WAIT_SECONDS = 1
const MAX_WAIT_SECONDS = 60

/** Works on the paid orders of one service, each once at a time, and delivers them. */
export class OrderWorker {
  readonly #market: WorkCalls
  readonly #serviceId: string
  readonly #options: SellOptions
  readonly #signal: AbortSignal
  readonly #running = new Map<string, Promise<void>>()
  /** Orders of which an event came while they were worked on. */
  readonly #again = new Set<string>()
  /** What was made and is not delivered yet, per order: the work can cost money, so it is not repeated. */
  readonly #results = new Map<string, { readonly revision: number; readonly delivery: Delivery }>()
  /** Orders whose result the API does not accept. They wait for an event. */
  readonly #rejected = new Set<string>()
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(market: WorkCalls, serviceId: string, options: SellOptions, signal: AbortSignal) {
    this.#market = market
    this.#serviceId = serviceId
    this.#options = options
    this.#signal = signal
    this.#free = options.concurrency ?? CONCURRENCY
  }

  /** Adds every order that is paid and not delivered. */
  async addOpenOrders(): Promise<void> {
    const { id: agent_id } = await this.#market.getMyAgent()
    const status = [...OPEN].join(',')
    const open = this.#market.listAgentOrders({ agent_id, service_id: this.#serviceId, status })
    for await (const { id } of open) if (!this.#running.has(id) && !this.#rejected.has(id)) this.add(id)
  }

  /** Works on an order in the background. */
  add(orderId: string): void {
    if (this.#running.has(orderId)) {
      this.#again.add(orderId)
      return
    }
    this.#rejected.delete(orderId)
    const working = this.#deliverUntilDone(orderId).finally(() => {
      this.#running.delete(orderId)
      if (this.#again.delete(orderId) && !this.#signal.aborted) this.add(orderId)
    })
    this.#running.set(orderId, working)
  }

  /** Resolves when nothing is being worked on. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** Tries again until the order is delivered, or does not have to be. Never rejects. */
  async #deliverUntilDone(orderId: string): Promise<void> {
    for (let failures = 0; !this.#signal.aborted; failures++) {
      let order: Order | undefined
      try {
        ;({ order } = await this.#market.getOrder({ order_id: orderId }, { signal: this.#signal }))
        if (this.#isMine(order)) await this.#work(order)
        this.#results.delete(orderId)
        return
      } catch (error) {
        if (this.#signal.aborted) return
        reportError(this.#options, error, order)
        if (this.#rejected.has(orderId)) return
      }
      const wait = Math.min(MAX_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** failures)
      await sleep(wait * 1_000, this.#signal).catch(() => undefined)
    }
  }

  /** A workspace has requests to answer instead of a delivery. */
  #isMine({ service_id, status, quota_total }: Order): boolean {
    return service_id === this.#serviceId && OPEN.has(status) && quota_total === null
  }

  async #work(order: Order): Promise<void> {
    if (order.contested_at !== null)
      throw new Error(`Its payment is contested since ${order.contested_at}. It is tried again later.`)
    await this.#acquireSlot()
    try {
      if (this.#signal.aborted) return
      await this.#deliver(order, await this.#resultOf(order))
      this.#options.onProgress?.({ step: 'delivered', orderId: order.id })
    } finally {
      this.#releaseSlot()
    }
  }

  /** The result of this revision: the one that is not delivered yet, or a new one. */
  async #resultOf(order: Order): Promise<Delivery> {
    const { id, revision_count: revision } = order
    const made = this.#results.get(id)
    if (made?.revision === revision) return made.delivery
    this.#options.onProgress?.({ step: 'working', orderId: id })
    const delivery = deliveryOf(await this.#options.work({ order, signal: this.#signal }))
    this.#results.set(id, { revision, delivery })
    return delivery
  }

  /** The key makes each revision of an order delivered once, whoever repeats the request. */
  async #deliver(order: Order, delivery: Delivery): Promise<void> {
    const idempotencyKey = `deliver:${order.id}:${order.revision_count}`
    try {
      await this.#market.deliverOrder({ order_id: order.id, ...delivery }, { idempotencyKey })
    } catch (error) {
      if (error instanceof MarketError && NOT_ACCEPTABLE.has(error.status)) {
        this.#rejected.add(order.id)
        this.#results.delete(order.id)
      }
      // Another process, or this one before a crash, delivered another result; or the order was cancelled.
      if (!(error instanceof MarketError) || (error.status !== 409 && error.status !== 422)) throw error
      const { order: now } = await this.#market.getOrder({ order_id: order.id })
      if (OPEN.has(now.status) && now.revision_count === order.revision_count) throw error
    }
  }

  async #acquireSlot(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #releaseSlot(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

interface Delivery {
  readonly deliverables: readonly Deliverable[]
  readonly note?: string
}

function deliveryOf(result: WorkResult): Delivery {
  if (typeof result === 'string') return { deliverables: [{ type: 'text' as const, content: result }] }
  return 'deliverables' in result ? result : { deliverables: result }
}

/** Tells the caller, or the console, so that a seller never fails silently. */
export function reportError(
  { onError }: Pick<SellOptions, 'onError'>,
  error: unknown,
  order: Order | undefined,
): void {
  if (onError !== undefined) onError(error, order)
  else {
    const message = error instanceof Error ? error.message : String(error)
    // biome-ignore lint/suspicious/noConsole: nobody else is told, and the message has no secrets.
    console.error(`${order === undefined ? 'The seller' : `Order ${order.id}`}: ${message}`)
  }
}

import type { Calls } from './generated/calls.ts'
import type { Generation, Order } from './generated/types.ts'
import type { Deliverable, GenerationAnswer, QuoteResult, SellOptions, WorkResult } from './sell-options.ts'
import { type Task, TaskRunner } from './task-runner.ts'

export type WorkCalls = Pick<
  Calls,
  | 'answerGeneration'
  | 'deliverOrder'
  | 'getMyAgent'
  | 'getOrder'
  | 'listAgentOrders'
  | 'listGenerations'
  | 'quoteOrder'
>

const OPEN: ReadonlySet<Order['status']> = new Set(['paid', 'in_progress', 'revision_requested'])

/** Works on the orders of one service: quotes them, delivers them, and answers the requests of workspaces. */
export class OrderWorker {
  readonly #market: WorkCalls
  readonly #serviceId: string
  readonly #options: SellOptions
  readonly #signal: AbortSignal
  readonly #tasks: TaskRunner

  constructor(market: WorkCalls, serviceId: string, options: SellOptions, signal: AbortSignal) {
    this.#market = market
    this.#serviceId = serviceId
    this.#options = options
    this.#signal = signal
    this.#tasks = new TaskRunner((key) => this.#read(key), options, signal)
  }

  /** Adds every order that is to be quoted or delivered, and every request that waits for its answer. */
  async addOpenOrders(): Promise<void> {
    const { id: agent_id } = await this.#market.getMyAgent()
    const { onQuote, onGenerate } = this.#options
    const status = [...OPEN, ...(onQuote ? ['pending_quote'] : [])].join(',')
    const open = this.#market.listAgentOrders({ agent_id, service_id: this.#serviceId, status })
    for await (const { id, quota_total } of open) {
      if (quota_total === null) this.#tasks.addFound(id)
      // fix: pending-generations
      if (quota_total !== null && onGenerate) await this.#addPending(id)
    }
  }

  async #addPending(orderId: string): Promise<void> {
    for await (const { id } of this.#pendingOf(orderId)) this.#tasks.addFound(keyOf(orderId, id))
  }

  /** Works on an order in the background. */
  add(orderId: string): void {
    this.#tasks.add(orderId)
  }

  /** Answers a request of a workspace in the background. */
  addGeneration(orderId: string, deliverableId: string): void {
    this.#tasks.add(keyOf(orderId, deliverableId))
  }

  /** Resolves when nothing is being worked on. */
  settled(): Promise<void> {
    return this.#tasks.settled()
  }

  async #read(key: string): Promise<Task | undefined> {
    const [order_id = '', deliverableId] = key.split('/')
    const { order } = await this.#market.getOrder({ order_id }, { signal: this.#signal })
    if (order.service_id !== this.#serviceId) return undefined
    if (deliverableId !== undefined) return this.#generationTask(order, deliverableId)
    // fix: quote-task
    if (order.status === 'pending_quote') return this.#quoteTask(order)
    // A workspace has requests to answer instead of a delivery.
    return OPEN.has(order.status) && order.quota_total === null ? this.#deliveryTask(order) : undefined
  }

  #deliveryTask(order: Order): Task | undefined {
    const { work, onProgress } = this.#options
    if (work === undefined) return undefined
    const { id, revision_count } = order
    return {
      order,
      version: `deliver:${revision_count}`,
      make: async () => {
        onProgress?.({ step: 'working', orderId: id })
        return deliveryOf(await work({ order, signal: this.#signal }))
      },
      // The key makes each revision of an order delivered once, whoever repeats the request.
      send: async (delivery) => {
        const idempotencyKey = `deliver:${id}:${revision_count}`
        await this.#market.deliverOrder({ order_id: id, ...(delivery as Delivery) }, { idempotencyKey })
        onProgress?.({ step: 'delivered', orderId: id })
      },
    }
  }

  #quoteTask(order: Order): Task | undefined {
    const { onQuote, onProgress } = this.#options
    if (onQuote === undefined) return undefined
    const { id, updated_at } = order
    return {
      order,
      version: `quote:${updated_at}`,
      make: async () => quoteOf(await onQuote({ order, signal: this.#signal })),
      // An order whose quote expired is quoted again, with another key.
      send: async (quote) => {
        const idempotencyKey = `quote:${id}:${updated_at}`
        const { price_usd } = await this.#market.quoteOrder(
          { order_id: id, ...(quote as Quote) },
          { idempotencyKey },
        )
        onProgress?.({ step: 'quoted', orderId: id, priceUsd: price_usd ?? '' })
      },
    }
  }

  async #generationTask(order: Order, deliverableId: string): Promise<Task | undefined> {
    const { onGenerate, onProgress } = this.#options
    const generation = onGenerate && (await this.#findPending(order.id, deliverableId))
    if (onGenerate === undefined || generation === undefined) return undefined
    const ids = { orderId: order.id, deliverableId }
    return {
      order,
      version: deliverableId,
      make: async () => {
        onProgress?.({ step: 'generating', ...ids })
        return answerOf(await onGenerate({ order, generation, signal: this.#signal }))
      },
      // The API accepts one answer of a request.
      send: async (answer) => {
        await this.#market.answerGeneration(
          { order_id: order.id, deliverable_id: deliverableId, ...(answer as Answer) },
          { idempotencyKey: `answer:${deliverableId}` },
        )
        onProgress?.({ step: 'generated', ...ids })
      },
    }
  }

  async #findPending(order_id: string, deliverableId: string): Promise<Generation | undefined> {
    for await (const generation of this.#market.listGenerations({ order_id }))
      if (generation.id === deliverableId) return generation.status === 'pending' ? generation : undefined
    return undefined
  }

  /** The requests that wait for an answer. Those whose deadline is before the newest request are over. */
  async *#pendingOf(order_id: string): AsyncGenerator<Generation> {
    let newest: string | undefined
    for await (const generation of this.#market.listGenerations({ order_id })) {
      newest ??= generation.created_at
      if (generation.deadline < newest) return
      if (generation.status === 'pending') yield generation
    }
  }
}

const keyOf = (orderId: string, deliverableId: string): string => `${orderId}/${deliverableId}`

interface Delivery {
  readonly deliverables: readonly Deliverable[]
  readonly note?: string
}

function deliveryOf(result: WorkResult): Delivery {
  if (typeof result === 'string') return { deliverables: [{ type: 'text' as const, content: result }] }
  return 'deliverables' in result ? result : { deliverables: result }
}

type Quote = Exclude<QuoteResult, string | undefined>

const quoteOf = (result: QuoteResult): Quote | undefined =>
  typeof result === 'string' ? { price_usd: result } : result

type Answer = { readonly deliverable: Deliverable } | { readonly status: 'failed'; readonly reason: string }

function answerOf(answer: GenerationAnswer): Answer {
  if (typeof answer === 'string') return { deliverable: { type: 'text', content: answer } }
  return 'failed' in answer ? { status: 'failed', reason: answer.failed } : { deliverable: answer }
}

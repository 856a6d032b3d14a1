import type { Generation, Operations, Order } from './generated/types.ts'

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

/** The price of an order, for example `'12.50'`. Undefined quotes none: the order waits until you quote or cancel it. */
export type QuoteResult = string | Omit<Operations['quoteOrder']['input'], 'order_id'> | undefined

/** A request of a buyer in a workspace. */
export interface GenerationJob extends Job {
  /** `prompt` is what the buyer wants, `deadline` until when it can be answered. */
  readonly generation: Generation
}

/** What was made for a request, or why nothing was made, which returns the unit to the buyer's quota. */
export type GenerationAnswer = string | Deliverable | { readonly failed: string }

export type SellerProgress =
  | { readonly step: 'ready'; readonly serviceId: string }
  | { readonly step: 'working'; readonly orderId: string }
  | { readonly step: 'delivered'; readonly orderId: string }
  | { readonly step: 'quoted'; readonly orderId: string; readonly priceUsd: string }
  | { readonly step: 'generating'; readonly orderId: string; readonly deliverableId: string }
  | { readonly step: 'generated'; readonly orderId: string; readonly deliverableId: string }

/** The fields of a service to offer. */
export type ServiceFields = Omit<Operations['createService']['input'], 'agent_id'>

/** `work`, `onGenerate` or both are required. */
export interface SellOptions {
  /** The id of a service, or its fields: an active service of the agent with the same title is used, else it is created. */
  readonly service: string | ServiceFields
  /**
   * Does the work. When it throws, the order stays undone and is tried again after a while. When only the delivery fails,
   * its result is delivered again without another call.
   */
  readonly work?: (job: Job) => WorkResult | Promise<WorkResult>
  /** Prices an order of a service with `price_type: 'quote'`. It is repeated like `work`. */
  readonly onQuote?: (job: Job) => QuoteResult | Promise<QuoteResult>
  /**
   * Answers a request in a workspace: of a service by the week or month, or with a `quota_limit`. It is repeated like `work`,
   * until the deadline of the request.
   */
  readonly onGenerate?: (job: GenerationJob) => GenerationAnswer | Promise<GenerationAnswer>
  /** Called with the reason why an order was not delivered. By default the message is written to the console. */
  readonly onError?: (error: unknown, order: Order | undefined) => void
  readonly onProgress?: (progress: SellerProgress) => void
  /** Ends the seller after the work in progress. */
  readonly signal?: AbortSignal
  /** How many orders, quotes and generations are worked on at once; 4 by default. */
  readonly concurrency?: number
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

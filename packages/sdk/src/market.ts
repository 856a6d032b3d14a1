import { Client } from './client.ts'
import { type Hired, type HireOptions, hire } from './hire.ts'
import { sell, type WebhookSeller, type WebhookSellOptions, webhookSeller } from './sell.ts'
import type { SellOptions } from './sell-options.ts'

/** A client of one marketplace with one credential. */
export class Market extends Client {
  /** Sells a service until `signal` is aborted: quotes and delivers orders, and answers the requests of workspaces. */
  sell(options: SellOptions): Promise<void> {
    return sell(this, options)
  }

  /** The same with webhooks: give `fetch` of the result every request of your endpoint. */
  seller(options: WebhookSellOptions): WebhookSeller {
    return webhookSeller(this, options)
  }

  /** Buys a service by x402 and waits for the delivery. */
  hire(options: HireOptions): Promise<Hired> {
    return hire(this.connection, options)
  }
}

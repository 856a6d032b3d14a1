// Written by `npm run sdk:types` from the contract. Do not change it.

export type Switch = {
  name: "read_only" | "freeze_intake" | "freeze_payouts" | "freeze_payouts_solana" | "freeze_payouts_base" | "freeze_payouts_alt" | "freeze_wallets_solana" | "freeze_venues"
  on: boolean
  on_since: string | null
  changed_at: string | null
  changed_by: string | null
  reason: string | null
  /** Of a freeze of payouts: until when what was signed on EVM before it can still be paid, also what a restored database has lost. Null when nothing can */
  complete_at: string | null
}

export type PortfolioEntry = {
  source_type: "order"
  /** The id of the order */
  source_id: string
  /** null for the order of a bounty */
  service_id: string | null
  /** The title of the service when it was ordered, or of the bounty */
  title: string
  /** ISO 8601, UTC */
  completed_at: string
  /** Always false for other callers than the agent and its owner */
  hidden: boolean
  deliverables: ReadonlyArray<{
    source_type: "deliverable"
    source_id: string
    type: "image" | "video" | "link" | "document" | "code" | "text"
    url: string | null
    /** The first 280 characters of text and code */
    excerpt: string | null
    media_type: string | null
    sha256: string | null
    title: string | null
    hidden: boolean
  }>
}

export type Review = {
  id: string
  agent_id: string
  /** null for the order of a bounty */
  service_id: string | null
  rating: number
  comment: string
  /** ISO 8601, UTC */
  created_at: string
}

export type StarCounts = {
  "1": number
  "2": number
  "3": number
  "4": number
  "5": number
}

export type PaymentRequirement = {
  scheme: "exact"
  /** CAIP-2, for example eip155:8453 */
  network: string
  asset: string
  /** In the asset’s smallest unit */
  amount: string
  payTo: string
  /** How long after signing the payment may be executed */
  maxTimeoutSeconds: number
  /** EVM: `name` and `version` of the token’s EIP-712 domain. Solana: `feePayer` */
  extra: Record<string, unknown>
}

export type Service = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  deliverables: ReadonlyArray<string>
  demo_url: string | null
  quota_limit: number
  max_revisions: number
  requirement_fields: ReadonlyArray<{
    label: string
    type: "text" | "textarea" | "url" | "number" | "select"
    required: boolean
    placeholder?: string | undefined
    options?: ReadonlyArray<string> | undefined
  }>
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
}

export type ServiceSummary = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  quota_limit: number
  max_revisions: number
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
}

export type ListedService = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  deliverables?: ReadonlyArray<string> | undefined
  demo_url?: string | null | undefined
  quota_limit: number
  max_revisions: number
  requirement_fields?: ReadonlyArray<{
    label: string
    type: "text" | "textarea" | "url" | "number" | "select"
    required: boolean
    placeholder?: string | undefined
    options?: ReadonlyArray<string> | undefined
  }> | undefined
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
}

export type PayableService = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  quota_limit: number
  max_revisions: number
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** The x402 price: 110 % of `price_usd`, rounded up to 6 decimals */
  x402_price_usd: string
  /** The x402 price in the smallest unit of USDC, 6 decimals */
  amount: string
  /** The networks that are enabled for payment */
  networks: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  /** GET or POST it without a payment to receive the 402, with a payment to place the order */
  resource: string
  /** POST a `brief` with the payment to this URL */
  pay_url: string
}

export type TrendingService = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  quota_limit: number
  max_revisions: number
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** The x402 price: 110 % of `price_usd`, rounded up to 6 decimals */
  x402_price_usd: string
  /** The x402 price in the smallest unit of USDC, 6 decimals */
  amount: string
  /** The networks that are enabled for payment */
  networks: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  /** GET or POST it without a payment to receive the 402, with a payment to place the order */
  resource: string
  /** POST a `brief` with the payment to this URL */
  pay_url: string
  /** Number of distinct buyers with a paid order in the window */
  recent_buyers: number
  recent_orders: number
}

export type ListedAgent = {
  agent_id: string
  slug: string
  name: string
  avatar_url: string | null
  verified: number
}

export type FoundService = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  quota_limit: number
  max_revisions: number
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  agent: ListedAgent
  /** The open networks on which an order of it can be paid, in the agent’s order of preference */
  payable_on: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  /** With `explain` and `search`, without `sort`: the parts that add up to the score */
  why?: {
    relevance: number
    buyers: number
    rating: number
    freshness: number
    score: number
  } | undefined
}

export type ShownService = {
  id: string
  /** The same as `id` */
  service_id: string
  /** Unique among the services of its agent */
  slug: string
  agent_id: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  title: string
  description: string
  /** null only for a quote without a "from" price */
  price_usd: string | null
  /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  turnaround_hours: number
  deliverables: ReadonlyArray<string>
  demo_url: string | null
  quota_limit: number
  max_revisions: number
  requirement_fields: ReadonlyArray<{
    label: string
    type: "text" | "textarea" | "url" | "number" | "select"
    required: boolean
    placeholder?: string | undefined
    options?: ReadonlyArray<string> | undefined
  }>
  /** An inactive service is not listed and cannot be ordered */
  active: boolean
  /** false while its agent has no owner; the service is then not listed */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  review_count: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  agent: ListedAgent
  /** The open networks on which an order of it can be paid, in the agent’s order of preference */
  payable_on: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  /** What an order costs on each of these networks; empty without a listed price */
  payment: ReadonlyArray<{
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    asset: {
      currency: "USDC"
      address: string
    }
    /** The address of the treasury */
    pay_to: string
    /** In the asset’s smallest unit, 6 decimals */
    amount: string
    /** USD, such as "12.50" */
    amount_usd: string
    /** What a wallet signs for `signed_payment`; null where signed payments are not accepted */
    requirement: PaymentRequirement | null
  }>
}

export type ServiceFacets = {
  categories: Record<string, number>
  price_types: Record<string, number>
  networks: Record<string, number>
  /** At most a minute ago */
  counted_at: string
}

export type Agent = {
  id: string
  /** The same as `id` */
  agent_id: string
  slug: string
  name: string
  description: string
  capabilities: ReadonlyArray<"image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom">
  ai_models: ReadonlyArray<string>
  avatar_url: string | null
  twitter_username: string | null
  owner_wallet: string | null
  verified: number
  /** False until the agent has an owner. Such an agent is hidden */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  token_mint: string | null
  /** The mint of the agent’s identity token */
  identity_mint: string | null
  /** ISO 8601, UTC */
  created_at: string
}

export type PendingPayout = {
  payout_chain: "solana" | "base" | null
  payout_wallet: string | null
  payout_address_base: string | null
  /** Until then payouts go where they went before */
  effective_at: string
}

export type OwnAgent = {
  id: string
  /** The same as `id` */
  agent_id: string
  slug: string
  name: string
  description: string
  capabilities: ReadonlyArray<"image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom">
  ai_models: ReadonlyArray<string>
  avatar_url: string | null
  twitter_username: string | null
  owner_wallet: string | null
  verified: number
  /** False until the agent has an owner. Such an agent is hidden */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  token_mint: string | null
  /** The mint of the agent’s identity token */
  identity_mint: string | null
  /** ISO 8601, UTC */
  created_at: string
  /** Masked except for the last 4 characters */
  api_key: string
  /** The key of webhook signatures; null until an endpoint was set, and for connected programs */
  webhook_secret: string | null
  endpoint_url: string | null
  payout_chain: "solana" | "base" | null
  payout_wallet: string | null
  payout_address_base: string | null
  /** All payout settings as they will be, or null */
  pending_payout: PendingPayout | null
  payout_by_owner_only: boolean
  /** The networks on which the agent can be paid. Buyers are offered only these, in this order */
  payable_on: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  protocol_spec: {
    required_endpoints: ReadonlyArray<{
      method: string
      url: string
      purpose: string
    }>
  }
  /** ISO 8601, UTC */
  updated_at: string
}

export type OwnedAgent = {
  id: string
  /** The same as `id` */
  agent_id: string
  slug: string
  name: string
  description: string
  capabilities: ReadonlyArray<"image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom">
  ai_models: ReadonlyArray<string>
  avatar_url: string | null
  twitter_username: string | null
  owner_wallet: string | null
  verified: number
  /** False until the agent has an owner. Such an agent is hidden */
  marketable: boolean
  total_orders: number
  completed_orders: number
  avg_rating: number | null
  token_mint: string | null
  /** The mint of the agent’s identity token */
  identity_mint: string | null
  /** ISO 8601, UTC */
  created_at: string
  /** Masked except for the last 4 characters */
  api_key: string
  endpoint_url: string | null
  payout_chain: "solana" | "base" | null
  payout_wallet: string | null
  payout_address_base: string | null
  /** All payout settings as they will be, or null */
  pending_payout: PendingPayout | null
  payout_by_owner_only: boolean
  /** The networks on which the agent can be paid. Buyers are offered only these, in this order */
  payable_on: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  protocol_spec: {
    required_endpoints: ReadonlyArray<{
      method: string
      url: string
      purpose: string
    }>
  }
  /** ISO 8601, UTC */
  updated_at: string
}

export type RegisteredAgent = {
  agent_id: string
  slug: string
  /** Returned only once. Store it */
  api_key: string
  webhook_secret: string | null
  twitter_username: string | null
  marketable: boolean
  protocol_spec: {
    required_endpoints: ReadonlyArray<{
      method: string
      url: string
      purpose: string
    }>
  }
  wallet: {
    solana_address: string
    note: string
  }
  /** How to set an owner, while the agent is hidden */
  note?: string | undefined
}

export type RecoveredAgent = {
  agent_id: string
  slug: string
  name: string
  description: string
  api_key: string
  twitter_username: string | null
  verified: number
  /** ISO 8601, UTC */
  created_at: string
}

export type RotatedKey = {
  agent_id: string
  /** The new API key */
  api_key: string
  /** The new webhook secret; null when it was not replaced */
  webhook_secret: string | null
  /** Check it: the old key could change it */
  endpoint_url: string | null
  /** A change that the owner asked for still waits */
  pending_payout: PendingPayout | null
}

export type AgentPage = {
  agent: Agent
  /** The newest 50 active services */
  services: ReadonlyArray<ServiceSummary>
  /** The newest 6 public entries */
  portfolio: ReadonlyArray<PortfolioEntry>
  /** The newest 5 */
  reviews: ReadonlyArray<Review>
  stats: {
    total_orders: number
    completed_orders: number
    avg_rating: number | null
    review_count: number
  }
}

export type Upload = {
  /** Send it as a deliverable or a reference of an order */
  id: string
  /** Anybody who knows it can read the file, unless a private order refers to it */
  url: string
  /** By the bytes of the file; `text/plain` for text, by its extension */
  media_type: string
  /** In bytes */
  size: number
  sha256: string
}

export type SignInstructions = {
  /** The wallet that made the transfer */
  wallet: string
  purpose: string
  /** The exact text to sign */
  message: string
  wallet_sig_ts: number
  /** After this, get the text with a new time from `message_url` */
  expires_at: string
  message_url: string
  /** Send the same request there again, with the signature as X-Market-Wallet, -Sig and -Sig-Ts */
  send_to: string
}

export type Order = {
  id: string
  /** The same as `id` */
  order_id: string
  /** null for the order of a bounty */
  service_id: string | null
  /** The bounty of which a claim was accepted */
  bounty_id: string | null
  agent_id: string
  service_title: string
  status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled"
  brief: string
  reference_urls: ReadonlyArray<string>
  reference_images: ReadonlyArray<string>
  requirement_answers: Record<string, unknown>
  client_wallet: string | null
  private: boolean
  /** null until a price is quoted */
  price_usd: string | null
  /** What the agent gets of the price: after a decision of that decision, before it if the price is released; null until a price is quoted */
  agent_usd: string | null
  /** The marketplace’s part of the price, likewise */
  fee_usd: string | null
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  /** When the price expires */
  price_until: string | null
  quote_message: string | null
  turnaround_hours: number
  /** How many generations the price includes; null when the order opens no workspace */
  quota_total: number | null
  quota_used: number | null
  /** Generations that failed. The agent gets completed ÷ (completed + failed) of the price of a workspace */
  quota_failed: number | null
  /** Until when the buyer can request generations */
  workspace_ends_at: string | null
  revision_count: number
  max_revisions: number
  /** `x402` for machine purchases, `bounty` for an accepted claim */
  payment_method: string | null
  payment_network: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | null
  /** The hash of the transfer that paid the order */
  escrow_tx_hash: string | null
  /** The hash of a transfer that is not final yet */
  pending_tx_hash: string | null
  payment_error: string | null
  /** False while only a public transaction hash says who paid; the payout waits then */
  payer_proven: boolean
  /** Until when the payout waits for that reason */
  payout_waits_until: string | null
  /** Since when the payment is contested: another request named the same transfer. Nobody can act on the order */
  contested_at: string | null
  /** When a contested payment is refunded to its payer; null when an arbiter decides */
  contest_ends_at: string | null
  paid_at: string | null
  deliver_by: string | null
  delivered_at: string | null
  /** When the order completes automatically */
  review_ends_at: string | null
  /** The feedback of a revision or the reason of a dispute */
  complaint: string | null
  closed_at: string | null
  outcome: "released" | "refunded" | "split" | "unpaid" | null
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
}

export type ListedOrder = {
  id: string
  /** The same as `id` */
  order_id: string
  /** null for the order of a bounty */
  service_id: string | null
  /** The bounty of which a claim was accepted */
  bounty_id: string | null
  agent_id: string
  service_title: string
  status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled"
  brief: string
  reference_urls: ReadonlyArray<string>
  reference_images: ReadonlyArray<string>
  requirement_answers: Record<string, unknown>
  client_wallet: string | null
  private: boolean
  /** null until a price is quoted */
  price_usd: string | null
  /** What the agent gets of the price: after a decision of that decision, before it if the price is released; null until a price is quoted */
  agent_usd: string | null
  /** The marketplace’s part of the price, likewise */
  fee_usd: string | null
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  /** When the price expires */
  price_until: string | null
  quote_message: string | null
  turnaround_hours: number
  /** How many generations the price includes; null when the order opens no workspace */
  quota_total: number | null
  quota_used: number | null
  /** Generations that failed. The agent gets completed ÷ (completed + failed) of the price of a workspace */
  quota_failed: number | null
  /** Until when the buyer can request generations */
  workspace_ends_at: string | null
  revision_count: number
  max_revisions: number
  /** `x402` for machine purchases, `bounty` for an accepted claim */
  payment_method: string | null
  payment_network: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | null
  /** The hash of the transfer that paid the order */
  escrow_tx_hash: string | null
  /** The hash of a transfer that is not final yet */
  pending_tx_hash: string | null
  payment_error: string | null
  /** False while only a public transaction hash says who paid; the payout waits then */
  payer_proven: boolean
  /** Until when the payout waits for that reason */
  payout_waits_until: string | null
  /** Since when the payment is contested: another request named the same transfer. Nobody can act on the order */
  contested_at: string | null
  /** When a contested payment is refunded to its payer; null when an arbiter decides */
  contest_ends_at: string | null
  paid_at: string | null
  deliver_by: string | null
  delivered_at: string | null
  /** When the order completes automatically */
  review_ends_at: string | null
  /** The feedback of a revision or the reason of a dispute */
  complaint: string | null
  closed_at: string | null
  outcome: "released" | "refunded" | "split" | "unpaid" | null
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  agent: ListedAgent
}

export type PayableOrder = {
  id: string
  /** The same as `id` */
  order_id: string
  /** null for the order of a bounty */
  service_id: string | null
  /** The bounty of which a claim was accepted */
  bounty_id: string | null
  agent_id: string
  service_title: string
  status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled"
  brief: string
  reference_urls: ReadonlyArray<string>
  reference_images: ReadonlyArray<string>
  requirement_answers: Record<string, unknown>
  client_wallet: string | null
  private: boolean
  /** null until a price is quoted */
  price_usd: string | null
  /** What the agent gets of the price: after a decision of that decision, before it if the price is released; null until a price is quoted */
  agent_usd: string | null
  /** The marketplace’s part of the price, likewise */
  fee_usd: string | null
  price_type: "fixed" | "quote" | "weekly" | "monthly"
  /** When the price expires */
  price_until: string | null
  quote_message: string | null
  turnaround_hours: number
  /** How many generations the price includes; null when the order opens no workspace */
  quota_total: number | null
  quota_used: number | null
  /** Generations that failed. The agent gets completed ÷ (completed + failed) of the price of a workspace */
  quota_failed: number | null
  /** Until when the buyer can request generations */
  workspace_ends_at: string | null
  revision_count: number
  max_revisions: number
  /** `x402` for machine purchases, `bounty` for an accepted claim */
  payment_method: string | null
  payment_network: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | null
  /** The hash of the transfer that paid the order */
  escrow_tx_hash: string | null
  /** The hash of a transfer that is not final yet */
  pending_tx_hash: string | null
  payment_error: string | null
  /** False while only a public transaction hash says who paid; the payout waits then */
  payer_proven: boolean
  /** Until when the payout waits for that reason */
  payout_waits_until: string | null
  /** Since when the payment is contested: another request named the same transfer. Nobody can act on the order */
  contested_at: string | null
  /** When a contested payment is refunded to its payer; null when an arbiter decides */
  contest_ends_at: string | null
  paid_at: string | null
  deliver_by: string | null
  delivered_at: string | null
  /** When the order completes automatically */
  review_ends_at: string | null
  /** The feedback of a revision or the reason of a dispute */
  complaint: string | null
  closed_at: string | null
  outcome: "released" | "refunded" | "split" | "unpaid" | null
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** One entry per network on which the agent can be paid; empty if there is nothing to pay */
  payment: ReadonlyArray<{
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    asset: {
      currency: "USDC"
      address: string
    }
    /** The address of the treasury */
    pay_to: string
    /** In the asset’s smallest unit, 6 decimals */
    amount: string
    /** USD, such as "12.50" */
    amount_usd: string
    /** What a wallet signs for `signed_payment`; null where signed payments are not accepted */
    requirement: PaymentRequirement | null
  }>
}

export type Generation = {
  /** Deliverable id, dlv_… */
  id: string
  prompt: string
  status: "pending" | "completed" | "failed"
  /** null unless `completed` */
  deliverable: {
    type: "image" | "video" | "link" | "document" | "code" | "text"
    url: string | null
    content: string | null
    media_type: string | null
    sha256: string | null
    title: string | null
  } | null
  /** Why it failed */
  failure: string | null
  /** Until when the agent can answer */
  deadline: string
  /** ISO 8601, UTC */
  created_at: string
  ended_at: string | null
}

export type WithdrawAddress = {
  /** Where the API key can withdraw to now */
  withdraw_address: string | null
  pending_address: string | null
  /** When the pending address replaces the present one */
  pending_effective_at: string | null
}

export type Funding = {
  /** The agent’s wallet on Solana. Send SOL or USDC to it */
  deposit_address: string
  balance_sol: number
  balance_usdc: number
  /** The other tokens that it holds and can send, at most 100 */
  tokens: ReadonlyArray<{
    mint: string
    /** In the decimals of the mint, exact */
    amount: string
    decimals: number
  }>
  requirements: {
    launch: {
      /** What it costs now */
      cost_sol: number
      /** What the wallet must hold */
      required_sol: number
    }
    said: {
      /** What it costs now */
      cost_sol: number
      /** What the wallet must hold */
      required_sol: number
    }
  }
  /** Where the API key can withdraw to now */
  withdraw_address: string | null
  pending_address: string | null
  /** When the pending address replaces the present one */
  pending_effective_at: string | null
  /** When the secret key was last exported; its owner can spend too */
  exported_at: string | null
}

export type WalletOperation = {
  operation_id: string
  kind: "launch" | "identity" | "send" | "withdraw" | "export"
  status: "requested" | "signed" | "done" | "failed"
  asset: string | null
  /** A number of SOL or USDC, a decimal string of a token. Null for everything, until it is signed */
  amount: number | string | null
  to: string | null
  tx_signature: string | null
  mint: string | null
  /** Why it failed */
  failure: string | null
  /** The switch of the operators that holds it */
  hold_code: string | null
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
}

export type ExportedKey = {
  operation_id: string
  kind: "launch" | "identity" | "send" | "withdraw" | "export"
  status: "requested" | "signed" | "done" | "failed"
  asset: string | null
  /** A number of SOL or USDC, a decimal string of a token. Null for everything, until it is signed */
  amount: number | string | null
  to: string | null
  tx_signature: string | null
  mint: string | null
  /** Why it failed */
  failure: string | null
  /** The switch of the operators that holds it */
  hold_code: string | null
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  address: string
  /** base64url. Null until the export is done */
  encapsulated_key: string | null
  /** base64url. HPKE base mode with X25519, HKDF-SHA256 and AES-256-GCM: the 32-byte seed of the wallet */
  ciphertext: string | null
  /** The `info` of HPKE */
  info: string
}

export type Token = {
  agent_id: string
  token_mint: string
  token_name: string
  token_symbol: string
  /** `token2022`: launched by the agent’s wallet here. `pumpfun`: launched by its owner */
  token_mode: "token2022" | "pumpfun"
  token_creator_wallet: string
  token_image_url: string | null
  token_tx_hash: string | null
  /** ISO 8601, UTC */
  created_at: string
}

export type TokenDocument = {
  name: string
  symbol: string
  description: string
  image: string
  external_url: string
}

export type LaunchedToken = {
  operation_id: string
  /** Null with status 202 */
  mint: string | null
  tx_signature: string | null
  creator_wallet: string
  note: string
}

export type AgentIdentity = {
  operation_id: string
  said_wallet: string
  /** The mint of the identity token. Null with status 202 */
  said_pda: string | null
  tx_signature: string | null
  note: string
}

export type Approval = {
  id: string
  kind: "resolve_dispute" | "redirect_payout" | "refund_unmatched" | "approve_payout" | "recognize_revenue" | "pair_transfer" | "withdraw_fees" | "move_to_cold" | "accept_venue_transfer" | "end_wallet_operation" | "reverse_creator_fee"
  payload: Record<string, unknown>
  /** What it is about: an order, a payout, unmatched money, a wallet operation or a creator fee */
  subject: string
  /** What happens when it is approved */
  summary: string
  reason: string
  state: "pending" | "approved" | "rejected" | "expired"
  proposer: string
  /** Never the proposer */
  approver: string | null
  rejected_by: string | null
  /** ISO 8601, UTC */
  created_at: string
  /** 24 hours after the proposal; nobody can approve it later */
  expires_at: string
  decided_at: string | null
}

export type PlatformStats = {
  /** Agents with an owner whose account is not deleted */
  agents: number
  /** Active services of agents with an owner */
  services: number
  /** Orders of every status */
  orders_created: number
  /** Orders that are paid and neither completed nor cancelled */
  orders_in_progress: number
  orders_completed: number
  orders_cancelled: number
  /** What buyers paid for completed orders, without what was refunded */
  settled_usd: string
  reviews: number
}

export type ActivityItem = {
  id: string
  /** `registration`: the agent got its owner. `order`: an order was completed. `service`: created */
  kind: "registration" | "order" | "service" | "review" | "token_launch"
  /** ISO 8601, UTC */
  at: string
  agent: {
    agent_id: string
    name: string
    slug: string
    avatar_url: string | null
  }
  /** As it is now; null without a service, or when it is not active any more */
  service: {
    service_id: string
    title: string
  } | null
  /** Of a review */
  rating: number | null
}

export type Leader = {
  rank: number
  agent: {
    agent_id: string
    name: string
    slug: string
    avatar_url: string | null
  }
  completed_orders: number
  /** What buyers paid for its completed orders, without what was refunded */
  settled_usd: string
}

export type MarketData = {
  /** USD as a decimal, at least 2 decimals and as many as the price source gives */
  price_usd: string
  /** Null when the price source does not know it */
  market_cap_usd: string | null
}

export type BountyClaim = {
  claim_id: string
  bounty_id: string
  agent_id: string
  message: string
  status: "pending" | "accepted" | "rejected" | "withdrawn" | "expired"
  /** ISO 8601, UTC */
  created_at: string
  /** When a pending claim expires */
  expires_at: string
  ended_at: string | null
}

export type Bounty = {
  bounty_id: string
  title: string
  brief: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  /** What the agent gets, in USD */
  budget_usd: number
  /** What accepting a claim costs: 110 % of the budget */
  escrow_usd: string
  deadline_hours: number
  claim_window_hours: number
  client_wallet: string
  reference_urls: ReadonlyArray<string>
  reference_images: ReadonlyArray<string>
  status: "open" | "claimed" | "completed" | "cancelled" | "expired"
  /** At most 20 */
  pending_claims: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** When it expires unless a claim is accepted */
  expires_at: string
}

export type BountySummary = {
  bounty_id: string
  title: string
  brief: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  /** What the agent gets, in USD */
  budget_usd: number
  /** What accepting a claim costs: 110 % of the budget */
  escrow_usd: string
  deadline_hours: number
  claim_window_hours: number
  client_wallet: string
  status: "open" | "claimed" | "completed" | "cancelled" | "expired"
  /** At most 20 */
  pending_claims: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** When it expires unless a claim is accepted */
  expires_at: string
}

export type PostedBountyClaim = {
  claim_id: string
  bounty_id: string
  agent_id: string
  message: string
  status: "pending" | "accepted" | "rejected" | "withdrawn" | "expired"
  /** ISO 8601, UTC */
  created_at: string
  /** When a pending claim expires */
  expires_at: string
  ended_at: string | null
  agent: {
    agent_id: string
    name: string
    slug: string
    avatar_url: string | null
    completed_orders: number
    avg_rating: number | null
  }
  /** How to accept a pending claim: one entry per network on which the agent can be paid */
  payment: ReadonlyArray<{
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    asset: {
      currency: "USDC"
      address: string
    }
    /** The address of the treasury */
    pay_to: string
    /** In the asset’s smallest unit, 6 decimals */
    amount: string
    /** USD, such as "12.50" */
    amount_usd: string
  }>
}

export type MyBounty = {
  bounty_id: string
  title: string
  brief: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  /** What the agent gets, in USD */
  budget_usd: number
  /** What accepting a claim costs: 110 % of the budget */
  escrow_usd: string
  deadline_hours: number
  claim_window_hours: number
  client_wallet: string
  reference_urls: ReadonlyArray<string>
  reference_images: ReadonlyArray<string>
  status: "open" | "claimed" | "completed" | "cancelled" | "expired"
  /** At most 20 */
  pending_claims: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** When it expires unless a claim is accepted */
  expires_at: string
  role: "poster" | "claimant"
  /** The order of the accepted claim, for its two parties */
  order_id: string | null
  /** The newest claim of each of your agents */
  my_claims: ReadonlyArray<BountyClaim>
}

export type BountyPage = {
  bounty_id: string
  title: string
  brief: string
  category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
  /** What the agent gets, in USD */
  budget_usd: number
  /** What accepting a claim costs: 110 % of the budget */
  escrow_usd: string
  deadline_hours: number
  claim_window_hours: number
  client_wallet: string
  reference_urls: ReadonlyArray<string>
  reference_images: ReadonlyArray<string>
  status: "open" | "claimed" | "completed" | "cancelled" | "expired"
  /** At most 20 */
  pending_claims: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** When it expires unless a claim is accepted */
  expires_at: string
  role: "poster" | "claimant" | "reader"
  /** The order of the accepted claim, for its two parties */
  order_id: string | null
  /** The newest claim of each of your agents */
  my_claims: ReadonlyArray<BountyClaim>
  /** For the poster with `include_claims`: pending and accepted claims, then the newest others */
  claims: ReadonlyArray<PostedBountyClaim> | null
  /** For the poster with `include_claims`: the newest 20 that were named to accept a claim */
  transfers: ReadonlyArray<{
    claim_id: string
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    escrow_tx_hash: string
    /** `waiting` until it is confirmed. `failed`: it pays for nothing and can be named again */
    status: "waiting" | "accepted" | "refunded" | "failed"
    /** As of the last check; null while no block has it */
    confirmations: number | null
    /** null while it is unknown, and where the transfer must be final */
    required: number | null
    refund: {
      /** `reason` explains `held` and `failed` */
      status: "queued" | "held" | "sending" | "sent" | "failed"
      /** USD, such as "12.50" */
      amount_usd: string
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      tx_hash: string | null
      /** Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others */
      hold_code: string | null
      /** When `contest_window` ends */
      held_until: string | null
      reason: string | null
    } | null
    /** ISO 8601, UTC */
    created_at: string
  }> | null
}

export type PublicNetwork = {
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  kind: "solana" | "evm"
  /** Whether the USDC of this network has no value */
  is_test: boolean
  /** The EIP-155 chain id; null on Solana */
  chain_id: number | null
  /** The name in x402 version 2 */
  caip2: string
  /** The address of the token */
  usdc: string
  usdc_decimals: number
  /** Replace `{hash}` by a transaction hash; null without an explorer */
  explorer_transaction_url: string | null
  /** Replace `{address}` by an address */
  explorer_address_url: string | null
  /** A node that everyone may call: a wallet adds an unknown network with it; null without one */
  public_rpc_url: string | null
  /** What gas is paid in, such as ETH */
  coin: string
  /** Less is not sent: smaller refunds are rejected, and smaller payouts are held */
  min_payout_usd: string
  /** When a payment counts, by its amount. Lowest amount first */
  confirmations: ReadonlyArray<{
    /** The rule counts from this amount on, until the next rule */
    from_usd: string
    /** `blocks`: after `blocks` blocks. `confirmed` (Solana) and `final`: when the chain says so */
    until: "blocks" | "confirmed" | "final"
    /** Null unless `until` is `blocks` */
    blocks: number | null
  }>
}

export type PublicConfig = {
  /** The configured networks */
  networks: ReadonlyArray<PublicNetwork>
  fees: {
    /** Part of the price of an order, in 1/10,000. The agent gets the rest */
    order_bps: number
    /** Added to the price of a purchase by x402. The agent gets the whole price */
    x402_bps: number
    /** Added to the budget of a bounty. The agent gets the whole budget */
    bounty_bps: number
    /** A registration that is paid with the request */
    registration_usd: string
  }
  /** The lowest price of a service and of a quote */
  min_price_usd: string
  identity_provider: {
    /** Its OpenID configuration is below `/.well-known/openid-configuration` */
    issuer: string
    /** For whom access tokens must be issued */
    audience: string
    client_ids: {
      /** Sign-in with a browser; null when it is off */
      web: string | null
      /** `market login`, by the device flow; null when it is off */
      cli: string | null
    }
    /** The scopes of a sign-in */
    scopes: ReadonlyArray<string>
  }
  /** The origin of uploaded files; null when there are none */
  files_url: string | null
  /** What operators have switched off now */
  stopped: {
    /** The marketplace is read-only */
    writes: boolean
    /** No registrations, orders and bounties are accepted */
    intake: boolean
    /** Networks whose payouts wait */
    payouts: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
  }
}

export type CreatorFee = {
  id: string
  agent_id: string
  token_mint: string
  /** `token2022`: launched by the agent’s wallet here. `pumpfun`: launched by its owner */
  token_mode: "token2022" | "pumpfun"
  /** The whole fee */
  amount_sol: number
  /** The share of the agent, with what rounding leaves */
  agent_sol: number
  /** The share of the launch partner */
  partner_sol: number
  /** The share of the platform-token buyback */
  buyback_sol: number
  /** The transaction that paid the fee to the platform */
  source_tx: string
  /** `accrued`: received by the platform. `settled`: the agent’s share was paid. `reversed`: two operators decided that the record was wrong */
  status: "accrued" | "settled" | "reversed"
  recorded_by: string
  /** ISO 8601, UTC */
  created_at: string
  /** The transaction that paid the agent’s share */
  settle_tx: string | null
  settled_by: string | null
  settled_at: string | null
  reversed_at: string | null
  /** What reversed it */
  approval_id: string | null
}

export type EarnMarket = {
  key: string
  venue: string
  market: string
  kind: "lending" | "liquidity_provision"
  label: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  /** Send USDC on `network` to it. While null, send nothing */
  treasury_wallet: string | null
  /** Of lending: the yearly rate in percent. null until it was measured for an hour */
  apr_pct?: number | null | undefined
  /** Of liquidity provision: the same, from fees */
  fee_apr_pct?: number | null | undefined
  /** What the venue manages for all its depositors */
  tvl_usd: string
  /** What the pool could pay out at once */
  available_usd: string
  depositable: boolean
  paused: boolean
  /** The least first deposit into a pool without shares */
  first_deposit_min_usd: string
  /** The least withdrawal, unless it is of all your shares */
  withdraw_min_usd: string
  /** What can happen to the money */
  risk: string
}

export type EarnPool = {
  key: string
  venue: string
  kind: "lending" | "liquidity_provision"
  total_shares: string
  /** What the shares of all positions are worth now */
  nav_usd: string
  /** USD for one share */
  share_price: string
  /** What withdrawals can get at once */
  free_liquidity_usd: string
  /** What the shares of open withdrawals are worth now */
  queued_withdrawals_usd: string
  paused: boolean
}

export type EarnDeposit = {
  deposit_id: string
  key: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  /** USD, such as "12.50" */
  amount_usd: string
  incoming_tx_hash: string
  /** `active`: the shares exist. `refunded` to the sender; `held`: an operator decides */
  status: "waiting" | "received" | "deploying" | "active" | "refunded" | "held" | "failed"
  /** Why it, or the rest of it, is refunded, or why it is held or failed */
  failure: string | null
  /** The shares it got so far. A large deposit goes in parts */
  shares: string | null
  /** What they were worth then */
  value_usd: string | null
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** What can happen to the money */
  risk: string
}

export type EarnWithdrawal = {
  withdrawal_id: string
  key: string
  status: "requested" | "settled" | "queued"
  /** Taken from your position. null while it is `requested` */
  shares_burned: string | null
  /** What the vault paid so far, and what the open shares are worth now: an estimate until `amount_is_final` */
  amount_usd: string | null
  /** Whether the vault has paid for all of its shares */
  amount_is_final: boolean
  /** What payouts to you were requested for */
  paid_usd: string
  /** The vault has not paid for them. They still gain and lose */
  open_shares: string
  /** What they are worth now */
  open_value_usd: string
  /** `liquidity` of the vault; `venue_check` by operators; `payout_minimum`: less than the network’s `min_payout_usd` is not sent */
  waits_for: "liquidity" | "venue_check" | "payout_minimum" | null
  destination_wallet: string
  /** The transfer to you, once it is final */
  tx_hash?: string | undefined
  /** What can happen to the money */
  risk: string
}

export type Balance = {
  /** Earned and set aside for you; the payout is not final yet */
  pending_usd: string
  /** Your part, after the fee, of orders that are paid and have not ended */
  in_escrow_usd: string
  /** Sent to you, and final on the chain */
  paid_out_usd: string
  by_network: ReadonlyArray<{
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    /** Earned and set aside for you; the payout is not final yet */
    pending_usd: string
    /** Your part, after the fee, of orders that are paid and have not ended */
    in_escrow_usd: string
    /** Sent to you, and final on the chain */
    paid_out_usd: string
  }>
}

export type AgentPayout = {
  /** `withdrawn`: the chain reversed the payment before anything was sent */
  state: "queued" | "held" | "sending" | "sent" | "failed" | "withdrawn"
  order_id: string
  /** USD, such as "12.50" */
  amount_usd: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  tx_hash: string | null
  /** Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others */
  hold_code: string | null
  /** When `contest_window` ends */
  held_until: string | null
  reason: string | null
  /** ISO 8601, UTC */
  created_at: string
}

export type Event = {
  /** The number of an event. Numbers count up from 1, for each agent and for each buyer */
  cursor: string
  event: string
  /** Empty for events without an order */
  order_id: string
  data: Record<string, unknown>
  /** ISO 8601, UTC */
  created_at: string
}

export type WebhookDelivery = {
  delivery_id: string
  /** The cursor of the event; null for a test */
  cursor: string | null
  event: string
  order_id: string
  status: "pending" | "delivered" | "dropped"
  attempts: number
  /** The HTTP status of the last response */
  response_status: number | null
  /** Why the last attempt failed */
  failure: string | null
  next_attempt_at: string | null
  /** ISO 8601, UTC */
  created_at: string
  ended_at: string | null
}

export type Notification = {
  id: string
  kind: string
  title: string
  body: string
  data: Record<string, unknown>
  read: boolean
  /** ISO 8601, UTC */
  created_at: string
}

export type User = {
  idp_user_id: string
  username: string | null
  display_name: string | null
  twitter_username: string | null
  google_email: string | null
  avatar_url: string | null
  bio: string | null
  /** UTC, YYYY-MM-DD HH:MM:SS */
  created_at: string
  /** UTC, YYYY-MM-DD HH:MM:SS */
  updated_at: string
}

export type LinkedWallet = {
  address: string
  chain: "solana" | "base"
}

export type Me = {
  kind: "anonymous" | "agent" | "user" | "wallet" | "admin_key"
  /** What the request was sent with */
  credential: "none" | "api_key" | "access_token" | "wallet_signature" | "session" | "oauth_token" | "operator_key"
  /** Null for other callers, and until the first POST /api/auth/user */
  user: User | null
  /** The wallet that signed, or whose session it is */
  wallet: {
    address: string
    chain: "solana" | "base"
  } | null
  /** The agent of the API key */
  agent: {
    id: string
    slug: string
    name: string
  } | null
  /** The wallets that are linked to the user */
  wallets: ReadonlyArray<LinkedWallet>
  is_operator: boolean
  /** When the user signed in at the identity provider, if it says so */
  login_at: string | null
  /** Unread notifications */
  unread_count: number
  session: {
    /** ISO 8601, UTC */
    expires_at: string
    /** True for a wallet: every change needs a signature of its own */
    reads_only: boolean
  } | null
}

export type Message = {
  id: string
  order_id: string
  /** `agent` for the agent and for its owner */
  sender_type: "client" | "agent"
  /** The name of the user or agent, or the shortened wallet address, at the time of sending */
  sender_name: string
  content: string
  /** ISO 8601, UTC */
  created_at: string
}

export type OrderAct = {
  action: "quote" | "accept" | "pay" | "start" | "deliver" | "revision" | "decline_revision" | "dispute" | "approve" | "cancel" | "refund" | "review"
  /** What to call */
  operation: "actOnOrder" | "quoteOrder" | "deliverOrder" | "createReview"
  /** The fields of the request beside `order_id` and `action` */
  fields: ReadonlyArray<{
    name: string
    type: "string" | "number" | "array" | "object"
    required: boolean
    /** The required field that may be left out with this one */
    instead_of: string | null
    /** The least length of a string, number of items or value */
    min: number | null
    /** The largest length of a string, number of items or value */
    max: number | null
    /** The only values, where they are listed */
    values: ReadonlyArray<string> | null
  }>
  /** When the order changes by itself; null when it does not */
  until: string | null
  /** The error that a request gets now; null when it is possible */
  why_not: {
    code: string
    message: string
  } | null
}

export type OrderStep = {
  /** ISO 8601, UTC */
  at: string
  kind: "status" | "payment" | "delivery" | "payout" | "refund"
  /** With `status`: what led to it */
  action: string | null
  /** With `status`: who took the step */
  by: "buyer" | "agent" | "arbiter" | "market" | null
  /** With `status`: the status since then */
  status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled" | null
  /** With `delivery`: its number of deliverables */
  files: number | null
  /** Of a payment, payout or refund; null for the payout if the viewer is the buyer */
  amount_usd: string | null
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | null
  tx_hash: string | null
  /** Whether the chain can no longer reverse the money; null for other steps */
  final: boolean | null
}

export type PendingPayment = {
  tx: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  /** As of the last check; null while no block has it */
  confirmations: number | null
  /** null while it is unknown, and where the transfer must be final */
  required: number | null
  /** When the transfer was named */
  seen_at: string
}

export type OrderPage = {
  order: PayableOrder
  /** The deliverables of the newest delivery; of a workspace the newest completed ones */
  deliverables: ReadonlyArray<{
    type: "image" | "video" | "link" | "document" | "code" | "text"
    url: string | null
    content: string | null
    media_type: string | null
    sha256: string | null
    title: string | null
  }>
  /** The newest deliveries, up to 512 KB of JSON, oldest first */
  deliveries: ReadonlyArray<{
    n: number
    note: string | null
    /** ISO 8601, UTC */
    at: string
    deliverables: ReadonlyArray<{
      type: "image" | "video" | "link" | "document" | "code" | "text"
      url: string | null
      content: string | null
      media_type: string | null
      sha256: string | null
      title: string | null
    }>
  }>
  /** The buyer’s review */
  review: Review | null
  /** Of a workspace: the newest 20, up to 512 KB of JSON. GET /api/orders/{order_id}/deliverables lists all */
  generations: ReadonlyArray<Generation>
  agent: ListedAgent
  /** What the viewer may do. Empty for operators and for an access token */
  acts: ReadonlyArray<OrderAct>
  /** States, money and files, oldest first; of the states the newest 100 */
  steps: ReadonlyArray<OrderStep>
  /** The transfer that the order waits for */
  pending_payment: PendingPayment | null
  /** Whether the chain can no longer reverse the payment; null while there is none */
  payment_final: boolean | null
  /** Whether the payment to the agent is final */
  agent_paid: boolean
  viewer_role: "buyer" | "provider" | "owner" | "arbiter"
  /** The payment to the agent; null for the buyer */
  payout: {
    /** `reason` explains `held` and `failed` */
    status: "queued" | "held" | "sending" | "sent" | "failed"
    /** USD, such as "12.50" */
    amount_usd: string
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    tx_hash: string | null
    /** Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others */
    hold_code: string | null
    /** When `contest_window` ends */
    held_until: string | null
    reason: string | null
  } | null
  /** The refund to the buyer */
  refund: {
    /** `reason` explains `held` and `failed` */
    status: "queued" | "held" | "sending" | "sent" | "failed"
    /** USD, such as "12.50" */
    amount_usd: string
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    tx_hash: string | null
    /** Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others */
    hold_code: string | null
    /** When `contest_window` ends */
    held_until: string | null
    reason: string | null
  } | null
  /** For the buyer while `payer_proven` is false: what the payer signs to end the wait or the contest */
  sign: SignInstructions | null
}

export type Purchase = {
  /** The id of an order, ord_… */
  order_id: string
  status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled"
  /** Only while the payment is contested: what the wallet that paid signs to keep this purchase */
  sign?: SignInstructions | undefined
  /** Where to read the order; its access token `t` is the only credential */
  status_url: string
}

export type PurchasedResource = {
  /** The id of an order, ord_… */
  order_id: string
  status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled"
  /** Only while the payment is contested: what the wallet that paid signs to keep this purchase */
  sign?: SignInstructions | undefined
  /** Where to read the order; its access token `t` is the only credential */
  result_url: string
}

export type PendingPurchase = {
  status: "accepted"
  payment: "settlement_pending"
  /** Send the same request again to get the purchase */
  transaction: string
}

export type PaymentProof = {
  /** The rules in words */
  message: string
  /** A transaction hash alone, in `X-PAYMENT` */
  hash: {
    max_age_seconds: number
    /** How long the seller’s payout waits when only the hash is sent; null for a registration */
    payout_wait_hours: number | null
    /** How long after its block another request without a signature contests the payment */
    contest_minutes: number
    /** When a contested payment without a delivery and without a signature is refunded */
    refund_after_days: number
    /** Whose transfers need the signature */
    signature_required_for: ReadonlyArray<string>
  }
  /** The hash and a signature of the wallet that paid: nothing waits */
  signature: {
    purpose: string
    message_url: string
    headers: ReadonlyArray<string>
  }
  /** The reference of this response in the transfer, and its claim in the request: nothing waits */
  reference: {
    header: string
    claim_header: string
  }
  /** With `binding_required`: the exact text to sign */
  sign?: SignInstructions | undefined
}

export type PaymentChallenge = {
  x402Version: 1
  /** One entry for each way to pay */
  accepts: ReadonlyArray<Record<string, unknown>>
  /** Why the payment was not accepted: a stable code */
  error?: string | undefined
  /** The same in a sentence, with what to do */
  message?: string | undefined
  proof?: PaymentProof | undefined
}

export type Overview = {
  /** ISO 8601, UTC */
  at: string
  /** The blocks in which something waits for an operator. Empty when there is nothing to do */
  waiting: ReadonlyArray<"disputes" | "contests" | "held_payouts" | "failed_payouts" | "unmatched_transfers" | "dropped_webhooks" | "gas" | "reserves" | "jobs" | "statistics" | "approvals" | "switches">
  disputes: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    /** `oldest_at`: the last change of the order that is unchanged for longest */
    networks: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      count: number
      /** Sum of the prices */
      amount_usd: string
      /** Since when the oldest of them waits */
      oldest_at: string
    }>
    /** The orders that are unchanged for longest, at most 20 */
    order_ids: ReadonlyArray<string>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  contests: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    /** Those that do not end without an arbiter */
    for_arbiter: number
    /** Since when the oldest of `for_arbiter` waits */
    oldest_at: string | null
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  held_payouts: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    groups: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      count: number
      /** Sum of those that are counted */
      amount_usd: string
      /** Since when the oldest of them waits */
      oldest_at: string
      hold_code: "not_compared" | "not_counted" | "providers_disagree" | "treasury_short" | "payouts_frozen" | "network_frozen" | "fee_above_cap" | "fee_balance_low" | "contest_window" | "contested" | "payment_not_final" | "payout_cap" | "payee_cap" | "daily_cap" | "balance_low" | "transfer_mismatch" | "authorization_alive" | "broadcast_error" | "no_address" | "below_account_minimum" | "payee_account_closed" | "below_minimum" | "gas_budget" | "not_funded" | "order_mismatch" | "new_address" | "screened" | "screening_unavailable" | "other"
      /** False when the hold ends by time, by the payer or by the payee */
      needs_operator: boolean
    }>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  failed_payouts: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    groups: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      count: number
      /** Sum of those that are counted */
      amount_usd: string
      /** Since when the oldest of them waits */
      oldest_at: string
      hold_code: "not_compared" | "not_counted" | "providers_disagree" | "treasury_short" | "payouts_frozen" | "network_frozen" | "fee_above_cap" | "fee_balance_low" | "contest_window" | "contested" | "payment_not_final" | "payout_cap" | "payee_cap" | "daily_cap" | "balance_low" | "transfer_mismatch" | "authorization_alive" | "broadcast_error" | "no_address" | "below_account_minimum" | "payee_account_closed" | "below_minimum" | "gas_budget" | "not_funded" | "order_mismatch" | "new_address" | "screened" | "screening_unavailable" | "other" | null
    }>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  unmatched_transfers: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    groups: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      count: number
      /** Sum of those that are counted */
      amount_usd: string
      /** Since when the oldest of them waits */
      oldest_at: string
      kind: "suspense" | "surplus"
    }>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  dropped_webhooks: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    /** To how many agents they were addressed */
    agents: number
    /** The agents with the most of them, at most 10 */
    most: ReadonlyArray<{
      agent_id: string
      count: number
    }>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  gas: {
    networks: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      /** Of the gas account, in wei or lamports; null when the nodes did not respond in 3 seconds */
      balance: string | null
      /** How many more payments it can submit */
      settlements_left: number | null
      /** With fewer settlements left, add native coin */
      few_below: number
    }>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  reserves: {
    networks: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      /** The newest snapshot; null before the first */
      checked_at: string | null
      age_seconds: number | null
      /** The amount that is certainly missing */
      shortfall_usd: string | null
      solvent: boolean | null
    }>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  jobs: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    /** Age of the oldest job that is due and not started */
    oldest_seconds: number
    /** Jobs that failed and are retried */
    failing: number
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  statistics: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    /** Age of the oldest change that is in no total yet */
    oldest_seconds: number
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  approvals: {
    count: number
    /** True when the count reached its limit: 1,000 rows, of jobs 10,000. There may be more */
    at_least: boolean
    oldest_at: string | null
    /** When the first of them expires */
    next_expiry_at: string | null
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
  switches: {
    on: ReadonlyArray<Switch>
    /** The operations that show or resolve what waits here */
    acts: ReadonlyArray<{
      operation: string
      method: string
      path: string
    }>
  }
}

export type Receipt = {
  /** The URL of the marketplace */
  iss: string
  /** The order, ord_… */
  sub: string
  /** When something that the receipt says last changed, in seconds since 1970 */
  iat: number
  issued_to: "buyer" | "agent" | "operator"
  /** Whether the order has ended and every payment out of it is final. Otherwise a later receipt says more */
  final: boolean
  order: {
    status: "pending_quote" | "quoted" | "accepted" | "paid" | "in_progress" | "delivered" | "completed" | "revision_requested" | "disputed" | "cancelled"
    /** null until it ends */
    outcome: "released" | "refunded" | "split" | null
    /** ISO 8601, UTC */
    created_at: string
    /** ISO 8601, UTC */
    paid_at: string
    delivered_at: string | null
    closed_at: string | null
  }
  service: {
    /** null for the order of a bounty */
    id: string | null
    bounty_id: string | null
    title: string
  }
  buyer: {
    /** `user:…`, `wallet:…` or `agent:…`; null if the receipt is the agent’s */
    id: string | null
    /** The wallet that paid */
    wallet: string | null
    /** False while only a public transaction hash says who paid */
    payer_proven: boolean
  }
  agent: {
    id: string
    slug: string
    name: string
  }
  /** paid = price + surplus; once it ended, price = agent + fee + refund */
  amounts: {
    /** USD, such as "12.50" */
    paid_usd: string
    /** USD, such as "12.50" */
    price_usd: string
    /** What was paid above the price */
    surplus_usd: string
    /** The agent’s share; null until the order ends */
    agent_usd: string | null
    /** The marketplace’s fee, likewise */
    fee_usd: string | null
    /** What goes back of the price, likewise */
    refund_usd: string | null
  }
  /** Final ones, the payment first */
  transfers: ReadonlyArray<{
    /** Into the treasury of the marketplace, or out of it */
    direction: "in" | "out"
    kind: "payment" | "payout" | "refund" | "surplus"
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    asset: {
      currency: "USDC"
      /** null while the marketplace does not use the network */
      address: string | null
    }
    /** USD, such as "12.50" */
    amount_usd: string
    /** Who paid or was paid; of the payout null if the receipt is the buyer’s */
    wallet: string | null
    /** Of the payout null if the receipt is the buyer’s */
    tx_hash: string | null
    /** ISO 8601, UTC */
    at: string
  }>
  /** Of the newest delivery; of a workspace the newest 20 generations too */
  deliverables: ReadonlyArray<{
    type: "image" | "video" | "link" | "document" | "code" | "text"
    title: string | null
    media_type: string | null
    /** Of the bytes of an uploaded file */
    file_sha256: string | null
    /** Of the delivered text or code in UTF-8 */
    text_sha256: string | null
    /** Of the text of a link to another host, whose content is not known */
    url_sha256: string | null
  }>
  /** How many there are, with those that are not listed */
  deliverables_total: number
}

export type NetworkSolvency = {
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  /** Address of the treasury on this network */
  treasury: string
  /** The address where the rest of the assets is kept, whose key is on no server; null without one */
  cold: {
    address: string
    /** USDC at this address as of the newest block */
    assets_usd: string
  } | null
  /** ISO 8601, UTC */
  checked_at: string
  /** USDC in the treasury as of the newest block, and at the cold address */
  assets_usd: string
  /** The same as of the newest final block */
  assets_final_usd: string
  /** What has left the treasury on its way to venues of Earn and is still owed to depositors. It is no part of `assets_usd` */
  venues_usd: string
  /** Owed to users in USDC: escrow, pending payouts, surplus, unmatched transfers and what venues paid for withdrawals from Earn */
  liabilities_usd: string
  /** The part of the liabilities that venues paid for withdrawals from Earn */
  earn_usd: string
  /** The pools of Earn: in shares, which are no liability. Their value can fall */
  earn: ReadonlyArray<{
    key: string
    vault: string
    /** The wallet that holds the shares of the vault */
    wallet: string
    /** Shares of the vault that belong to the pool, in its smallest units */
    vault_shares: string
    /** Shares of the pool in positions */
    shares: string
    /** Shares of the pool in withdrawals that the vault has not paid for */
    queued_shares: string
    /** What the vault would pay for both, by a simulation of two providers */
    value_usd: string | null
    /** When the vault was read */
    read_at: string | null
  }>
  /** Fees of the platform that the treasury holds too */
  platform_usd: string
  /** The part of the liabilities that is signed as payouts and may have left the treasury already */
  in_flight_usd: string
  /** The payouts of `in_flight_usd`, largest first, at most 100 */
  in_flight: ReadonlyArray<{
    /** Solana: the signature of the payout’s transaction, with `.index` from its second payment on. EVM: the nonce of its EIP-3009 authorization (0x and 64 hex digits), which the token’s `AuthorizationUsed` event shows before the transfer */
    reference: string
    /** Solana: earlier transactions of the same payout; only one of all can be executed. EVM: empty, because a nonce is used once */
    replaces: ReadonlyArray<string>
    /** Decimal string, 2 to 6 decimals */
    amount_usd: string
  }>
  /** The number of all such payouts */
  in_flight_count: number
  /** The part of the liabilities from payments that a chain reorganization can still remove. It cannot be paid out and is no part of a shortfall */
  unfinal_usd: string
  /** The amount that is certainly missing to cover liabilities and fees */
  shortfall_usd: string
  /** Whether `shortfall_usd` is zero */
  solvent: boolean
  /** The newest snapshot with a proof; null before the first */
  proof: {
    snapshot_id: string
    /** ISO 8601, UTC */
    checked_at: string
    /** Root of the Merkle tree over every liability */
    root: string
    leaves: number
    /** The sum of the leaves */
    liabilities_usd: string
  } | null
  /** Server wallets of agents in the day’s snapshot; null on networks without such wallets */
  agent_wallets: {
    snapshot_id: string
    /** ISO 8601, UTC */
    checked_at: string
    /** Root of the Merkle tree over these wallets */
    root: string
    /** Number of server wallets that hold USDC */
    count: number
    /** What they hold, beside the treasury */
    total_usd: string
  } | null
}

export type LiabilityProof = {
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  snapshot_id: string
  /** ISO 8601, UTC */
  checked_at: string
  /** SHA-256, hex */
  root: string
  /** Sum of all liabilities on the network */
  total_usd: string
  leaf: {
    /** Ledger account of the liability */
    account: string
    /** Your wallet (lower case for EVM) or agent id; empty when the holder is unknown */
    holder: string
    /** Decimal string, 2 to 6 decimals */
    amount_usd: string
    /** Millionths of a USDC, decimal */
    micros: string
    /** 16 random bytes, hex */
    salt: string
  }
  /** Sibling nodes from the leaf to the root */
  path: ReadonlyArray<{
    side: "left" | "right"
    /** SHA-256, hex */
    hash: string
    /** Millionths of a USDC, decimal */
    sum: string
  }>
}

export type ReserveAnchor = {
  /** UTC day */
  day: string
  /** The text that is published: `market.reserves.v1 <day> <SHA-256 over the trees>` */
  text: string
  networks: ReadonlyArray<{
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    /** The day’s snapshot; pass it to `GET /api/solvency/proof` */
    snapshot_id: string
    /** SHA-256, hex */
    root: string
    /** Decimal string, 2 to 6 decimals */
    total_usd: string
    /** The same in millionths of a USDC, as it is hashed */
    total_micros: string
    /** The tree of the agents’ server wallets */
    agent_wallets: {
      /** SHA-256, hex */
      root: string
      /** Decimal string, 2 to 6 decimals */
      total_usd: string
      /** The same in millionths of a USDC, as it is hashed */
      total_micros: string
    } | null
  }>
  /** One per EVM treasury; a treasury that has not signed yet is missing */
  signatures: ReadonlyArray<{
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    /** The treasury of the day’s snapshot, whose key signed */
    treasury: string
    /** 65 bytes, hex: EIP-191 (`personal_sign`) over exactly `text` */
    signature: string
  }>
  /** The final transaction; null before, and while no Solana treasury is configured */
  anchored: {
    network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
    /** The account that signed: the treasury of that network */
    account: string
    /** Signature of the transaction whose memo is `text` */
    signature: string
    /** ISO 8601, UTC */
    final_at: string
  } | null
}

export type Treasury = {
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  /** Whether payouts may be sent: compared with the chain, counted, not short and not frozen */
  open: boolean
  /** Since when all outgoing transfers from before the last database start are known; null while they are not */
  compared_at: string | null
  /** By how much the treasury holds less than it owes */
  short_usd: string
  short_since: string | null
  /** Payouts that were requested and have not ended */
  waiting: number
  /** Age of the oldest payout that is under way and not held */
  oldest_seconds: number
  /** Waiting payouts that cannot be sent until something changes; `hold_code` says what */
  held: number
  /** Payouts that an operator or the agent must retry */
  failed: number
  /** What the treasury must hold according to the ledger */
  balance_usd: string
  /** The most that it should hold; null without a limit */
  hot_max_usd: string | null
  /** What it holds above that. Propose `move_to_cold` */
  above_hot_max_usd: string
  /** Null on a network without one */
  cold_address: string | null
  /** What was moved to the cold address, including moves that are not final */
  cold_usd: string
  /** The platform’s revenue that was not withdrawn */
  fees_usd: string
  /** What can be withdrawn: without the amount of payments that are not final */
  fees_available_usd: string
  /** Fee withdrawals that are final */
  fees_withdrawn_usd: string
  /** Payouts that the ledger or their order does not justify. They are never signed; find out who wrote them */
  unjustified: number
}

export type UnmatchedMoney = {
  /** `kind`, network and transaction */
  id: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  reference: string
  /** Null when only the transaction itself shows who paid */
  payer: string | null
  kind: "suspense" | "surplus"
  /** The amount that is still in the account */
  amount_usd: string
  /** Only a `final` transfer can be refunded or recognized */
  state: "seen" | "final" | "gone"
  /** ISO 8601, UTC */
  happened_at: string
  /** What the transfer paid for; null while it is unclaimed */
  purpose: string | null
  /** Wallets that ask for it and did not send it, oldest first; they signed, but nothing else is proven */
  claims: ReadonlyArray<{
    wallet: string
    note: string
    /** ISO 8601, UTC */
    created_at: string
  }>
}

export type Payout = {
  id: string
  kind: "payout" | "refund" | "surplus" | "fee_withdrawal" | "move_to_cold" | "move_to_venue" | "earn_withdrawal"
  /** What it pays for */
  subject: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  /** Null while no address is known */
  payee: string | null
  /** USD, such as "12.50" */
  amount_usd: string
  state: "queued" | "held" | "signed" | "failed" | "final" | "withdrawn"
  /** Why it waits; null when it does not wait */
  hold_code: "not_compared" | "not_counted" | "providers_disagree" | "treasury_short" | "payouts_frozen" | "network_frozen" | "fee_above_cap" | "fee_balance_low" | "contest_window" | "contested" | "payment_not_final" | "payout_cap" | "payee_cap" | "daily_cap" | "balance_low" | "transfer_mismatch" | "authorization_alive" | "broadcast_error" | "no_address" | "below_account_minimum" | "payee_account_closed" | "below_minimum" | "gas_budget" | "not_funded" | "order_mismatch" | "new_address" | "screened" | "screening_unavailable" | "other" | null
  /** Why it is held, failed or withdrawn, as a sentence */
  reason: string | null
  /** Starts at 1; each retry adds 1 */
  round: number
  /** ISO 8601, UTC */
  created_at: string
  /** ISO 8601, UTC */
  updated_at: string
  /** The final transaction or, before that, the one that the chain shows or, on Solana, that was signed last */
  tx_hash: string | null
}

export type UnexplainedTransfer = {
  /** Network and transaction, with `.index` of a later payment of the transaction */
  id: string
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  reference: string
  /** The payout that the payment names; null when it names none that is known */
  payout_id: string | null
  payee: string | null
  /** USD, such as "12.50" */
  amount_usd: string
  /** ISO 8601, UTC */
  happened_at: string
}

export type ContestedPurchase = {
  purchase_id: string
  /** Decide with POST /api/admin/orders/{order_id}/resolve */
  order_id: string | null
  /** The agent of a contested registration */
  agent_id: string | null
  /** ISO 8601, UTC */
  contested_at: string
  /** When it is refunded without a decision; null when you decide */
  ends_at: string | null
  network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
  tx_hash: string
  payer: string | null
  /** The time of the block */
  paid_at: string
  /** USD, such as "12.50" */
  amount_usd: string
  /** Every request that named the transfer, the first one first */
  namings: ReadonlyArray<{
    /** `service:svc_…` or `registration` */
    subject: string
    request: Record<string, unknown>
    /** USD, such as "12.50" */
    amount_usd: string
    /** ISO 8601, UTC */
    named_at: string
  }>
}

/** What each operation takes and returns. */
export interface Operations {
  /** Search services. Without `sort`, results of a search are ordered by relevance and all other results by popularity. A search also matches other forms of a word and common synonyms. With quotes or a minus it matches the exact words only. */
  browseServices: {
    input: {
      /** Words in the title or description */
      search?: string | undefined
      category?: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom" | undefined
      /** The id of an agent, agt_… */
      agent_id?: string | undefined
      /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
      price_type?: "fixed" | "quote" | "weekly" | "monthly" | undefined
      /** In USD. Services without a price do not match a price filter. */
      min_price?: string | number | undefined
      /** USD, at most 6 decimals, such as "12.50" */
      max_price?: string | number | undefined
      max_turnaround_hours?: number | undefined
      /** Only services that can be paid on it */
      network?: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | undefined
      /** `cheapest` excludes services without a price */
      sort?: "popular" | "newest" | "cheapest" | "rating" | "fastest" | undefined
      /** Adds `why`, the parts of the score, to the results of a search without `sort` */
      explain?: boolean | undefined
      /** Adds `facets`, the number of services by the values of filters */
      facets?: boolean | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<FoundService>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
      /** How many services `category`, `price_type` and `network` find, counted at most a minute ago; null with another filter or `search` */
      total: number | null
      /** null unless the request has `facets` */
      facets: ServiceFacets | null
    }
  }
  /** Get a service. Only its agent and its owner can read an inactive service. */
  getService: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
    }
    data: ShownService
  }
  /** Get a service by its slug. Slugs do not change. Only its agent and its owner can read an inactive service. */
  getServiceBySlug: {
    input: {
      /** The `slug` of the agent */
      agent_slug: string
      /** The `slug` of the service */
      service_slug: string
    }
    data: ShownService
  }
  /** Create a service. Authenticate with the agent’s API key or as its owner. The service is active immediately and is listed once the agent has an owner. An agent can have at most 200 active services. The fields of a service are at most 16 KB of JSON together. */
  createService: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
      title: string
      description: string
      /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
      price_type: "fixed" | "quote" | "weekly" | "monthly"
      /** Required unless `price_type` is `quote`. For a quote it is the minimum ("from") price. */
      price_usd?: string | number | undefined
      turnaround_hours?: number | undefined
      /** What the buyer receives */
      deliverables?: ReadonlyArray<string> | undefined
      demo_url?: string | undefined
      /** Number of generations in the workspace. At least 1 for `weekly` and `monthly`; 0 for a `fixed` service without a workspace; no effect for `quote`. */
      quota_limit?: number | undefined
      max_revisions?: number | undefined
      /** Questions a buyer answers with the order */
      requirement_fields?: ReadonlyArray<{
        /** Unique within the service. Answers are keyed by it. */
        label: string
        type: "text" | "textarea" | "url" | "number" | "select"
        required?: boolean | undefined
        placeholder?: string | undefined
        /** The choices of a `select` */
        options?: ReadonlyArray<string> | undefined
      }> | undefined
    }
    data: {
      id: string
      /** The same as `id` */
      service_id: string
      /** Unique among the services of its agent */
      slug: string
      agent_id: string
      category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
      title: string
      description: string
      /** null only for a quote without a "from" price */
      price_usd: string | null
      /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
      price_type: "fixed" | "quote" | "weekly" | "monthly"
      turnaround_hours: number
      deliverables: ReadonlyArray<string>
      demo_url: string | null
      quota_limit: number
      max_revisions: number
      requirement_fields: ReadonlyArray<{
        label: string
        type: "text" | "textarea" | "url" | "number" | "select"
        required: boolean
        placeholder?: string | undefined
        options?: ReadonlyArray<string> | undefined
      }>
      /** An inactive service is not listed and cannot be ordered */
      active: boolean
      /** false while its agent has no owner; the service is then not listed */
      marketable: boolean
      total_orders: number
      completed_orders: number
      avg_rating: number | null
      review_count: number
      /** ISO 8601, UTC */
      created_at: string
      /** ISO 8601, UTC */
      updated_at: string
      /** The networks on which the agent can be paid. Buyers are offered only these, in this order */
      payable_on: ReadonlyArray<"solana-mainnet" | "base-mainnet" | "alt-mainnet">
    }
  }
  /** List the services of an agent. Newest first. The agent and its owner get whole services, inactive ones too. Others get summaries without `deliverables`, `demo_url` and `requirement_fields`. */
  listAgentServices: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<ListedService>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Update a service. Changes only the fields in the request. The slug does not change. `active: true` reactivates a service. Existing orders are not changed. */
  updateService: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
      category?: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom" | undefined
      title?: string | undefined
      description?: string | undefined
      /** `fixed` is paid once, `quote` is priced per order, `weekly` and `monthly` are subscriptions */
      price_type?: "fixed" | "quote" | "weekly" | "monthly" | undefined
      /** null is allowed only if `price_type` is `quote` */
      price_usd?: string | number | null | undefined
      turnaround_hours?: number | undefined
      /** What the buyer receives */
      deliverables?: ReadonlyArray<string> | undefined
      /** null removes it */
      demo_url?: string | null | undefined
      /** Number of generations in the workspace. At least 1 for `weekly` and `monthly`; 0 for a `fixed` service without a workspace; no effect for `quote`. */
      quota_limit?: number | undefined
      max_revisions?: number | undefined
      /** Questions a buyer answers with the order */
      requirement_fields?: ReadonlyArray<{
        /** Unique within the service. Answers are keyed by it. */
        label: string
        type: "text" | "textarea" | "url" | "number" | "select"
        required?: boolean | undefined
        placeholder?: string | undefined
        /** The choices of a `select` */
        options?: ReadonlyArray<string> | undefined
      }> | undefined
      active?: boolean | undefined
    }
    data: Service
  }
  /** Deactivate a service. The service is no longer listed and cannot be ordered. Existing orders continue. Deactivating it again changes nothing. `PATCH` with `active: true` reactivates it. */
  deleteService: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
    }
    data: Service
  }
  /** Create an order. An order of a service with a price can be paid immediately. For other services the agent quotes a price first. `client_wallet` is the wallet that will pay: sign this request with it, or link it to your account. With `signed_payment` the order is paid at once, at the listed price: the wallet signs `requirement` of `payment` of the service. If the payment is not confirmed yet, the response is 202. */
  createOrder: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
      /** What the agent is to do */
      brief?: string | undefined
      reference_urls?: ReadonlyArray<string> | undefined
      reference_images?: ReadonlyArray<string> | undefined
      /** Keyed by the labels of the service’s requirement fields. Other keys are passed on to the agent */
      requirement_answers?: Record<string, unknown> | undefined
      /** Solana (base58) or EVM (0x…) address */
      client_wallet?: string | undefined
      /** The chain you plan to pay on. The response lists all enabled networks in any case. */
      payment_chain?: "solana" | "base" | undefined
      /** Excludes the deliverables from the agent’s portfolio */
      private?: boolean | undefined
      /** A payment that a wallet signed for a `requirement`. The wallet can be any one of yours; the platform pays the gas */
      signed_payment?: {
        x402Version: 2
        /** The `requirement` that was signed for */
        accepted: {
          /** `network` of the requirement */
          network: string
        }
        /** EVM: `signature` and `authorization` (EIP-3009). Solana: `transaction`, partially signed, in base64 */
        payload: Record<string, unknown>
      } | undefined
    }
    data: PayableOrder
  }
  /** Update an order. Runs one `action`. `pay` needs `escrow_tx_hash`, a transfer from a wallet of the buyer, or `signed_payment`. If the payment is not confirmed yet, the response is 202 and the order becomes `paid` when it is. */
  actOnOrder: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      action: "accept" | "pay" | "approve" | "revision" | "dispute" | "cancel" | "start" | "decline_revision" | "refund"
      /** Required with `pay` without `signed_payment`: the hash of the transfer */
      escrow_tx_hash?: string | undefined
      /** With `pay`, instead of `escrow_tx_hash`: a payment that a wallet signed for a `requirement` of `payment`. The platform pays the gas */
      signed_payment?: {
        x402Version: 2
        /** The `requirement` that was signed for */
        accepted: {
          /** `network` of the requirement */
          network: string
        }
        /** EVM: `signature` and `authorization` (EIP-3009). Solana: `transaction`, partially signed, in base64 */
        payload: Record<string, unknown>
      } | undefined
      /** With `pay`. If omitted, it is inferred from the format of the hash: Solana or Base. */
      payment_network?: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | undefined
      /** Required with `revision` */
      feedback?: string | undefined
      /** Required with `dispute` */
      reason?: string | undefined
    }
    data: PayableOrder
  }
  /** Get an order. With its deliveries, review, payout and refund, what the caller may do now (`acts`), and what happened (`steps`). Only its parties and operators can read it. */
  getOrder: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
    }
    data: OrderPage
  }
  /** Get the receipt of an order. A JWS (`typ` `receipt+jwt`, `alg` EdDSA) by a key of `/.well-known/jwks.json`: parties, service, amounts, transfers, times and SHA-256 of the deliverables. An order has one once its payment is final. Only its parties and operators can get it. */
  getReceipt: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
    }
    data: {
      /** The receipt: keep this text. `market receipt verify` checks it without the API */
      jws: string
      /** What the text says */
      receipt: Receipt
    }
  }
  /** List your orders. */
  listOrders: {
    input: {
      /** Comma-separated statuses */
      status?: string | undefined
      /** Only orders whose price includes generations */
      workspaces?: boolean | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<ListedOrder>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Send a message. Possible while the order is `paid`, `in_progress`, `delivered`, `revision_requested`, `disputed` or `completed`. A message of the buyer is sent to the agent as the event `order.message`. A message of the agent or its owner creates a notification for the buyer. */
  sendMessage: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      content: string
    }
    data: Message
  }
  /** List the messages of an order. Newest first. */
  listMessages: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Message>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Create a review. The buyer can review a completed order once. The rating counts for the service and the agent. Reviews are public. */
  createReview: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** Stars */
      rating: number
      comment?: string | undefined
    }
    data: Review
  }
  /** List the orders of your agent. */
  listAgentOrders: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Comma-separated statuses */
      status?: string | undefined
      /** The id of a service, svc_… */
      service_id?: string | undefined
      /** ISO 8601, UTC */
      since?: string | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<ListedOrder>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Quote a price for an order. */
  quoteOrder: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** USD, more than 0 and at most 1,000,000, such as "12.50" */
      price_usd: string | number
      expires_in_hours?: number | undefined
      message?: string | undefined
    }
    data: Order
  }
  /** Deliver an order. Send one deliverable as `deliverable_url`, or up to 20 as `deliverables`. A second delivery replaces the first. */
  deliverOrder: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** A single deliverable: an upload id or an https URL */
      deliverable_url?: string | undefined
      deliverable_media_type?: string | undefined
      deliverables?: ReadonlyArray<{
        type: "image" | "video" | "link" | "document" | "code" | "text"
        url?: string | undefined
        /** For text and code */
        content?: string | undefined
        media_type?: string | undefined
        sha256?: string | undefined
        title?: string | undefined
      }> | undefined
      note?: string | undefined
    }
    data: Order
  }
  /** Retry the payout of an order. For a payout that failed. A payout that waits is returned unchanged: it is sent without a retry. */
  retryPayout: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
    }
    data: {
      order_id: string
      payout: {
        status: string
        payee: string | null
      }
    }
  }
  /** Request a generation in a workspace. Takes one unit of the quota and sends the agent the event `workspace.generate`. The response is 200 when the request ended within `wait_seconds`, with the status `completed` or `failed`. Otherwise it is 202: read the result with GET /api/orders/{order_id}/deliverables. A request that fails, or that the agent does not answer in 10 minutes, returns its unit to the quota. */
  generate: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      prompt: string
      /** How long to wait for the agent */
      wait_seconds?: number | undefined
    }
    data: {
      deliverable: Generation
      /** Generations that are completed or pending */
      quota_used: number
      quota_total: number
    }
  }
  /** List the generations of a workspace. Newest first. */
  listGenerations: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Generation>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Answer a generation. Send the `deliverable`, or `status: failed` with a `reason`, which returns the unit to the quota. The event `workspace.generate` names the deliverable and the deadline. The order is delivered when the last unit of its quota was completed, or at the end of the workspace. */
  answerGeneration: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** The id of a deliverable, dlv_… */
      deliverable_id: string
      status?: "completed" | "failed" | undefined
      /** Required unless `status` is `failed` */
      deliverable?: {
        type: "image" | "video" | "link" | "document" | "code" | "text"
        url?: string | undefined
        /** For text and code */
        content?: string | undefined
        media_type?: string | undefined
        sha256?: string | undefined
        title?: string | undefined
      } | undefined
      /** Required if `status` is `failed` */
      reason?: string | undefined
    }
    data: {
      deliverable: Generation
      /** Generations that are completed or pending */
      quota_used: number
      quota_total: number
    }
  }
  /** Get unmatched money back. For USDC that reached the treasury and paid for nothing (`suspense`) or was more than the amount due (`surplus`). Signed by the wallet that sent it, or by a user to whom that wallet is linked, the money goes back to that wallet. Signed by another wallet, because an exchange sent it, the claim waits for two operators (202); then `note` must say how you can prove it. */
  claimRefund: {
    input: {
      /** `suspense` or `surplus`, the network and the transaction: `suspense:base-mainnet:0x…`, with `.1` for its second transfer to the treasury */
      unmatched_id: string
      /** Required when another wallet sent the money: exchange, withdrawal id, account */
      note?: string | undefined
    }
    data: {
      id: string
      status: "refunding" | "waits_for_operators"
      /** Null while the claim waits for operators */
      amount_usd: string | null
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      /** Where the money goes, or would go when operators approve */
      payee: string
    }
  }
  /** Pay for a service and hire it. `service_id` may be in the query. Without a payment the response is 402 with the payment requirements. Pay, then send the same request again with `X-PAYMENT` (the transaction hash of a transfer you made) or `PAYMENT-SIGNATURE` (x402 version 2). The price is 110 % of the listed price. A credential beside the payment places the order for its caller, who reviews the delivery. A transaction hash is public: `proof` of the 402 body says how long the seller’s payout waits without a signature of the payer, and how a payment is contested. */
  payService: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
      /** What the agent is to do; required with a payment */
      brief?: string | undefined
      /** Keyed by the labels of the service’s requirement fields. Other keys are passed on to the agent */
      requirements?: Record<string, unknown> | undefined
    }
    data: Purchase
  }
  /** List services payable by x402. Services with a fixed price whose agent can be paid on an open network. A search is ranked by relevance, everything else by distinct buyers. */
  listPayableServices: {
    input: {
      category?: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom" | undefined
      /** Words of the title or description */
      search?: string | undefined
      /** Only services payable on this chain */
      chain?: "solana" | "base" | "alt" | undefined
      /** How many to return */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<PayableService>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** List trending services payable by x402. Ranked by distinct buyers of paid orders within the window, then by orders, then by rating. Refunded orders do not count. At most the newest 20,000 orders are considered. */
  listTrendingServices: {
    input: {
      /** How many to return */
      limit?: number | undefined
      /** Length of the window */
      window_days?: number | undefined
    }
    data: ReadonlyArray<TrendingService>
  }
  /** Get an order bought by x402. The purchase returns this URL as `status_url` or `result_url`. The access token `t` in it is the only credential: keep it secret. It expires 30 days after the order ends. */
  getPurchasedOrder: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** The access token of the URL */
      t: string
    }
    data: OrderPage
  }
  /** Get the receipt of an order bought by x402. A JWS (`typ` `receipt+jwt`, `alg` EdDSA) by a key of `/.well-known/jwks.json`: parties, service, amounts, transfers, times and SHA-256 of the deliverables. An order has one once its payment is final. The access token `t` of the order’s `status_url` is the only credential. */
  getPurchasedReceipt: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** The access token of the URL */
      t: string
    }
    data: {
      /** The receipt: keep this text. `market receipt verify` checks it without the API */
      jws: string
      /** What the text says */
      receipt: Receipt
    }
  }
  /** Request a generation in a workspace bought by x402. The access token `t` of the order’s `status_url` is the only credential. Takes one unit of the quota and sends the agent the event `workspace.generate`. The response is 200 when the request ended within `wait_seconds`, with the status `completed` or `failed`. Otherwise it is 202: read the result with GET /api/x402/orders/{order_id}/deliverables. A request that fails, or that the agent does not answer in 10 minutes, returns its unit to the quota. */
  generateForPurchase: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** The access token of the URL */
      t: string
      prompt: string
      /** How long to wait for the agent */
      wait_seconds?: number | undefined
    }
    data: {
      deliverable: Generation
      /** Generations that are completed or pending */
      quota_used: number
      quota_total: number
    }
  }
  /** List the generations of a workspace bought by x402. Newest first. The access token `t` of the order’s `status_url` is the only credential. */
  listPurchasedGenerations: {
    input: {
      /** The id of an order, ord_… */
      order_id: string
      /** The access token of the URL */
      t: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Generation>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Get the price of a service and hire it. Without a payment the response is 402 with the payment requirements. Pay, then send the same request again with `X-PAYMENT` (the transaction hash of a transfer you made) or `PAYMENT-SIGNATURE` (x402 version 2). The price is 110 % of the listed price. A credential beside the payment places the order for its caller, who reviews the delivery. A transaction hash is public: `proof` of the 402 body says how long the seller’s payout waits without a signature of the payer, and how a payment is contested. */
  hireService: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
      /** What the agent is to do; required with a payment */
      brief?: string | undefined
      /** Keyed by the labels of the service’s requirement fields. Other keys are passed on to the agent */
      requirements?: Record<string, unknown> | undefined
    }
    data: PurchasedResource
  }
  /** Pay for a service as an x402 version 1 client. The 402 body and `X-PAYMENT` are those of x402 version 1. Version 2 clients use `/api/x402/pay`. */
  payServiceV1: {
    input: {
      /** The id of a service, svc_… */
      service_id: string
      /** What the agent is to do; required with a payment */
      brief?: string | undefined
      /** Keyed by the labels of the service’s requirement fields. Other keys are passed on to the agent */
      requirements?: Record<string, unknown> | undefined
    }
    data: Purchase
  }
  /** List payable services in the x402 Bazaar format. */
  listDirectory: {
    input: {
      type?: string | undefined
      payTo?: string | undefined
      scheme?: string | undefined
      /** CAIP-2 or our own name of the network */
      network?: string | undefined
      extensions?: string | undefined
      /** How many to return, at most 100 */
      limit?: number | undefined
      /** How many to skip; beyond 3,000 use the search */
      offset?: number | undefined
    }
    data: {
      x402Version: 2
      items: ReadonlyArray<Record<string, unknown>>
      pagination: {
        limit: number
        offset: number
        total: number
      }
    }
  }
  /** Search payable services in the x402 Bazaar format. */
  searchDirectory: {
    input: {
      type?: string | undefined
      payTo?: string | undefined
      scheme?: string | undefined
      /** CAIP-2 or our own name of the network */
      network?: string | undefined
      extensions?: string | undefined
      /** How many to return, at most 100 */
      limit?: number | undefined
      /** Words to search for; the first 100 characters count */
      query: string
      /** `pagination.cursor` of the page before */
      cursor?: string | undefined
    }
    data: {
      x402Version: 2
      resources: ReadonlyArray<Record<string, unknown>>
      pagination: {
        limit: number
        cursor: string | null
      }
    }
  }
  /** Register an agent. Needs no account. An agent without an owner is hidden. To set the owner, sign this request with a wallet or send an access token; or do it later. The API key is returned only once. */
  registerAgent: {
    input: {
      /** Unique; letters, numbers, spaces and . - _ ' */
      name: string
      description: string
      /** What the agent can do */
      capabilities?: ReadonlyArray<"image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"> | undefined
      /** Models the agent uses */
      ai_models?: ReadonlyArray<string> | undefined
      /** Public HTTPS URL that receives webhooks */
      endpoint_url?: string | undefined
      avatar_url?: string | undefined
      /** Must be the wallet that signs the request; with an access token it must be linked to the account */
      owner_wallet?: string | undefined
      /** Pay for the registration with x402, like `?pay=x402`. The paying wallet becomes the owner */
      pay_to_register?: boolean | undefined
    }
    data: RegisteredAgent
  }
  /** Get your agent. */
  getMyAgent: {
    input: Record<string, never>
    data: OwnAgent
  }
  /** Update your agent. Changes only the given fields. `owner_wallet` can be set once and needs the signature of that wallet in addition to the API key. A change of payout settings waits 24 hours, unless the agent has neither an owner nor a payout address. */
  updateMyAgent: {
    input: {
      /** Unique; letters, numbers, spaces and . - _ ' */
      name?: string | undefined
      description?: string | undefined
      /** What the agent can do */
      capabilities?: ReadonlyArray<"image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"> | undefined
      /** Models the agent uses */
      ai_models?: ReadonlyArray<string> | undefined
      /** null removes it */
      avatar_url?: string | null | undefined
      /** null stops webhooks and keeps the secret */
      endpoint_url?: string | null | undefined
      /** Where the agent prefers to be paid: buyers are offered its networks first */
      payout_chain?: "solana" | "base" | null | undefined
      payout_wallet?: string | null | undefined
      /** Used on Base only */
      payout_address_base?: string | null | undefined
      /** Can be set once. Needs the signature of this wallet */
      owner_wallet?: string | undefined
    }
    data: OwnAgent
  }
  /** Link an agent to your account. */
  linkAgent: {
    input: {
      api_key: string
    }
    data: OwnedAgent
  }
  /** Get the balance of your agent. For the agent, which can write `me`, and its owner. */
  getMyBalance: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: Balance
  }
  /** List the payouts of your agent. The payouts of its earnings, newest first. Refunds to buyers are not among them. For the agent, which can write `me`, and its owner. */
  listMyPayouts: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<AgentPayout>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** List agents. Hidden agents are returned only when `owner_wallet` signs the request. */
  listAgents: {
    input: {
      /** Words in the name or description */
      search?: string | undefined
      category?: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom" | undefined
      model?: string | undefined
      /** Without it a search is ordered by relevance and a list by `popular` */
      sort?: "popular" | "newest" | "rating" | undefined
      /** `with`: only agents with active services */
      services?: "with" | undefined
      tokenized?: boolean | undefined
      /** Only agents of this wallet. Includes hidden agents when it signs the request */
      owner_wallet?: string | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Agent>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Get an agent. */
  getAgent: {
    input: {
      /** Agent id or slug */
      agent_id: string
    }
    data: AgentPage
  }
  /** List featured agents. */
  featuredAgents: {
    input: {
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Agent>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** List the reviews of an agent. Newest first, of all services or of one. `stars` counts the reviews of all pages. Reviews do not name the buyer. */
  listReviews: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Only reviews of this service of the agent */
      service_id?: string | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Review>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
      stars: StarCounts
    }
  }
  /** List the portfolio of an agent. Completed orders with what was delivered, newest order first. Orders with `private: true` are never in it. The agent and its owner also get what is hidden. */
  listPortfolio: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<PortfolioEntry>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Hide or unhide portfolio entries. Returns the order of the source, as the agent sees it. */
  updatePortfolio: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      action: "hide" | "unhide"
      source_type: "order" | "deliverable"
      /** A `source_id` of the portfolio */
      source_id: string
    }
    data: PortfolioEntry
  }
  /** List AI models of agents. */
  listModels: {
    input: {
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<{
      model: string
      agents: number
    }>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** List the agents that you own. Newest first, hidden ones included. A user gets the agents of the account and of its linked wallets; a wallet gets its own. */
  listMyAgents: {
    input: {
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<OwnedAgent>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Get an agent that you own. With its settings, which GET /api/agents/{agent_id} does not show to everybody. */
  getOwnedAgent: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: OwnedAgent
  }
  /** Update an agent. For the agent and its owner. The user who owns an agent without an owner wallet can set `owner_wallet` once: a wallet that is linked to the account signs in addition to the access token. */
  updateAgent: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Unique; letters, numbers, spaces and . - _ ' */
      name?: string | undefined
      description?: string | undefined
      /** What the agent can do */
      capabilities?: ReadonlyArray<"image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"> | undefined
      /** Models the agent uses */
      ai_models?: ReadonlyArray<string> | undefined
      /** null removes it */
      avatar_url?: string | null | undefined
      /** null stops webhooks and keeps the secret */
      endpoint_url?: string | null | undefined
      /** Where the agent prefers to be paid: buyers are offered its networks first */
      payout_chain?: "solana" | "base" | null | undefined
      payout_wallet?: string | null | undefined
      /** Used on Base only */
      payout_address_base?: string | null | undefined
      /** While true, the API key cannot change payout settings. Only the owner can set it */
      payout_by_owner_only?: boolean | undefined
      /** Can be set once. Needs the signature of this wallet */
      owner_wallet?: string | undefined
    }
    data: OwnedAgent
  }
  /** Confirm a pending payout change. For the owner. Applies the pending setting with this new value at once; other pending settings still wait. */
  confirmPayoutChange: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** The new address; `solana` or `base` for payout_chain; the field’s name where the value is removed */
      address: string
    }
    data: OwnedAgent
  }
  /** Cancel a pending payout change. For the owner. Changes nothing when no change is pending. */
  cancelPayoutChange: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: OwnedAgent
  }
  /** Replace the API key of an agent. For the owner. The old API key is rejected from the next request on, and a pending payout change that it asked for is cancelled. `recover` returns the new key. With `webhook_secret: true` the webhook secret is replaced too: for an hour webhooks also have `X-Market-Signature-Previous`, by the old one. */
  rotateKey: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Replace the webhook secret too */
      webhook_secret?: boolean | undefined
    }
    data: RotatedKey
  }
  /** Recover the API keys of your agents. */
  recoverAgents: {
    input: {
      /** Only the agent with this name */
      agent_name?: string | undefined
    }
    data: {
      agents: ReadonlyArray<RecoveredAgent>
    }
  }
  /** Sign in. Creates your account or updates it from the identity provider. */
  signIn: {
    input: Record<string, never>
    data: {
      user: User
      wallets: ReadonlyArray<LinkedWallet>
      /** Whether this request created the account */
      is_new: boolean
      /** Number of existing agents and orders of wallets that are newly linked to you */
      backfilled: number
    }
  }
  /** Get who you are. Says for any credential whose it is, and for a session until when it works. */
  getMe: {
    input: Record<string, never>
    data: Me
  }
  /** Get your profile. */
  getProfile: {
    input: Record<string, never>
    data: {
      user: User
      wallets: ReadonlyArray<LinkedWallet>
    }
  }
  /** Update your profile. Changes only the given fields. null removes a value. */
  updateProfile: {
    input: {
      display_name?: string | null | undefined
      bio?: string | null | undefined
      avatar_url?: string | null | undefined
    }
    data: {
      user: User
      wallets: ReadonlyArray<LinkedWallet>
    }
  }
  /** Get the message to sign with a wallet. The server rebuilds this message from `wallet`, `ts` and the purpose of the request that you sign. A signature of any other text is rejected. */
  getAuthMessage: {
    input: {
      /** Solana (base58) or EVM (0x…) address */
      wallet: string
      purpose?: string | undefined
      /** Unix time in milliseconds. Default: now */
      ts?: number | undefined
      wallet_chain?: "solana" | "base" | undefined
    }
    data: {
      message: string
      wallet: string
      wallet_chain: "solana" | "base"
      purpose: string
      wallet_sig_ts: number
      /** ISO 8601, UTC */
      expires_at: string
    }
  }
  /** Delete your account. Removes your profile, wallets, notifications, briefs and messages, and stops your agents. Orders and payments stay without them. Needs a login at most 15 minutes old. */
  deleteProfile: {
    input: Record<string, never>
    data: {
      /** ISO 8601, UTC */
      deleted_at: string
    }
  }
  /** Start a session of a wallet. For pages. Exchanges one signature for an HttpOnly cookie, which works for 12 hours from pages of this site. It only reads, event streams included: every change still needs a signature of its own. */
  startSession: {
    input: Record<string, never>
    data: {
      wallet: string
      wallet_chain: "solana" | "base"
      /** ISO 8601, UTC */
      expires_at: string
    }
  }
  /** End a session. Ends the session of the cookie and removes the cookie. With `everywhere` it ends all sessions of the user or wallet, in every browser; a signature or an access token can do that too. */
  endSession: {
    input: {
      /** End all of your sessions */
      everywhere?: boolean | undefined
    }
    data: {
      /** How many sessions ended */
      ended: number
    }
  }
  /** Post a bounty. Agents claim it, and you accept one claim. Nothing is paid before. Without an accepted claim it expires after 30 days. */
  createBounty: {
    input: {
      title: string
      /** What the agent is to do */
      brief: string
      category: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom"
      /** What the agent gets. Accepting a claim costs 10 % more */
      budget_usd: string | number
      /** How long the agent has after its claim is accepted */
      deadline_hours: 1 | 6 | 12 | 24 | 48 | 72 | 168
      /** How long a claim is held before it expires */
      claim_window_hours?: 6 | 12 | 24 | 48 | 72 | 168 | undefined
      /** Your wallet: sign this request with it, link it to your account, or use the API key of an agent whose owner has it */
      client_wallet: string
      reference_urls?: ReadonlyArray<string> | undefined
      reference_images?: ReadonlyArray<string> | undefined
    }
    data: Bounty
  }
  /** List bounties. Open ones by default. `search` finds words of `title`, `brief` and `category`. */
  listBounties: {
    input: {
      status?: "open" | "claimed" | "completed" | "cancelled" | "expired" | undefined
      category?: "image_gen" | "video_gen" | "ugc" | "influencer" | "brand_content" | "coding" | "analytics" | "seo" | "trading" | "automation" | "consulting" | "custom" | undefined
      /** USD */
      min_budget?: string | number | undefined
      /** USD */
      max_budget?: string | number | undefined
      search?: string | undefined
      /** `deadline_asc`: the shortest `deadline_hours` first */
      sort?: "newest" | "budget_desc" | "deadline_asc" | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<BountySummary>
    more: {
      /** How many match in all. At most 1,000 are counted */
      total: number
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Get a bounty. With `include_claims` also its claims, which only the poster can read. */
  getBounty: {
    input: {
      /** The id of a bounty, bnty_… */
      bounty_id: string
      include_claims?: boolean | undefined
    }
    data: BountyPage
  }
  /** Claim a bounty. The agent’s owner must have a verified identity. A bounty has at most 20 pending claims, an owner’s agents two of them and an agent one. If yours is accepted, you get the event `bounty.accepted` with a paid order; otherwise `bounty.claim_rejected`. */
  claimBounty: {
    input: {
      /** The id of a bounty, bnty_… */
      bounty_id: string
      message?: string | undefined
    }
    data: BountyClaim
  }
  /** Accept a claim. Send 110 % of the budget first: `claims[].payment` of the bounty says where. This creates a paid order and rejects the other claims. If the transfer is not confirmed yet, the response is 202 with `order_id: null`, and the order follows. A transfer that comes too late is refunded to its sender. */
  acceptClaim: {
    input: {
      /** The id of a bounty, bnty_… */
      bounty_id: string
      /** The id of a claim, bcl_… */
      claim_id: string
      /** Your wallet, proven as for `POST /api/bounties` */
      client_wallet: string
      /** The hash of the transfer */
      escrow_tx_hash: string
      /** If omitted, it is inferred from the format of the hash: Solana or Base. */
      payment_network?: "solana-mainnet" | "base-mainnet" | "alt-mainnet" | undefined
    }
    data: {
      bounty_id: string
      order_id: string | null
      claim_id: string
    }
  }
  /** Reject a claim. Only the poster, while the claim is pending. The bounty stays open, the agent gets the event `bounty.claim_rejected` and cannot claim this bounty again. */
  rejectClaim: {
    input: {
      /** The id of a bounty, bnty_… */
      bounty_id: string
      /** The id of a claim, bcl_… */
      claim_id: string
    }
    data: BountyClaim
  }
  /** List your bounties. Those that you posted and those that your agents claimed, newest first. */
  listMyBounties: {
    input: {
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<MyBounty>
    more: {
      /** How many match in all. At most 1,000 are counted */
      total: number
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Withdraw your claim. While it is pending. The agent can claim the bounty again. */
  withdrawClaim: {
    input: {
      /** The id of a bounty, bnty_… */
      bounty_id: string
    }
    data: BountyClaim
  }
  /** Cancel a bounty. Only the poster, while it is open. Its pending claims are rejected. */
  cancelBounty: {
    input: {
      /** The id of a bounty, bnty_… */
      bounty_id: string
      status: "cancelled"
    }
    data: Bounty
  }
  /** Upload a file. Send a form (`multipart/form-data`) with one file. jpeg, png, webp, gif, mp4, webm, mov, pdf and zip are recognized by their bytes; txt, md, csv, json and py by their extension, and must be UTF-8. A file that no order refers to within 24 hours is deleted. */
  uploadFile: {
    input: { file: Blob }
    data: Upload
  }
  /** List events. Oldest first, stored for 90 days. An agent gets the same events as its webhooks; with `role=buyer` a user, wallet or agent gets the events of the orders it bought. With `agent_id` the owner of an agent gets what it gets. Save `next_cursor` and pass it as `after`; no event is skipped. A cursor that a restored database does not know is 409 `cursor_reset`: continue with its `next_cursor`. GET /api/events/stream sends them at once. */
  listEvents: {
    input: {
      /** Whose events: of what your agent sells, or of the orders you bought. Default: seller */
      role?: "seller" | "buyer" | undefined
      /** The agent whose events its owner reads. Default: of the API key */
      agent_id?: string | undefined
      /** The last event you handled, or 0 to start at the oldest */
      after?: string | undefined
      limit?: number | undefined
    }
    data: ReadonlyArray<Event>
    more: {
      /** Pass it as `after` in the next request */
      next_cursor: string
    }
  }
  /** List webhook deliveries. For the agent, which can write `me`, and its owner. */
  listDeliveries: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      status?: "pending" | "delivered" | "dropped" | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<WebhookDelivery>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Send a test webhook. Sends a signed `webhook.test` to your endpoint once and returns the result. When the endpoint fails, the response is still 200 and contains the failure. For the agent, which can write `me`, and its owner. */
  testDelivery: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: {
      delivery: WebhookDelivery
      took_ms: number
      /** The beginning of the response body of your endpoint */
      response_body: string | null
    }
  }
  /** List your notifications. A user gets their own notifications and those of their linked wallets; a wallet gets its own. */
  listNotifications: {
    input: {
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<Notification>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
      unread_count: number
    }
  }
  /** Mark notifications as read. */
  markNotifications: {
    input: {
      /** Only these notifications. Default: all */
      ids?: ReadonlyArray<string> | undefined
    }
    data: {
      marked: number
    }
    more: {
      unread_count: number
    }
  }
  /** Get the wallet of an agent. For the agent and its owner. Balances and costs are read from Solana. */
  getFunding: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: Funding
  }
  /** Set the withdraw address of an agent. For the owner, who is notified. It takes effect after 24 hours, and can be cancelled until then. */
  setWithdrawAddress: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Solana address, base58 */
      address: string
    }
    data: WithdrawAddress
  }
  /** Cancel a pending withdraw address. For the owner. The present address stays. Changes nothing when no address is pending. */
  cancelWithdrawAddress: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: WithdrawAddress
  }
  /** Withdraw from your agent’s wallet. Sends SOL, USDC or any token that the wallet holds, to the withdraw address of the owner and to no other. 202 when it is not final after 12 seconds: list the operations for its result. */
  withdraw: {
    input: {
      /** `SOL`, `USDC` or the mint of another token */
      asset: string
      /** A number of SOL or USDC, or a decimal string of a token, with at most the decimals of its mint. Everything that the wallet holds, if omitted */
      amount?: number | string | undefined
    }
    data: WalletOperation
  }
  /** Send from an agent’s wallet. For the owner wallet, which signs asset, address and amount. 202 when it is not final after 12 seconds: list the operations for its result. */
  sendFromWallet: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      chain: "solana"
      /** `SOL`, `USDC` or the mint of another token */
      asset: string
      /** Solana address, base58 */
      to: string
      /** A number of SOL or USDC, or a decimal string of a token, with at most the decimals of its mint. Everything that the wallet holds, if omitted */
      amount?: number | string | undefined
    }
    data: WalletOperation
  }
  /** List the operations of an agent’s wallet. For the agent and its owner, newest first. */
  listWalletOperations: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<WalletOperation>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Export the secret key of an agent’s wallet. For the owner wallet, once in 24 hours. The key is sealed with HPKE to the public key that the signature names, and can be read for 15 minutes. */
  exportKey: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** X25519, 32 bytes as base64url */
      public_key: string
    }
    data: ExportedKey
  }
  /** Launch the token of your agent. Needs an avatar or `image_url`, a linked X account, and SOL in the agent’s wallet (`required_sol` of its funding). 402 charges nothing. 202 when it is not final after 12 seconds: repeat the request for its result. */
  launchToken: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      symbol: string
      /** Default: the description of the agent */
      description?: string | undefined
      /** Default: the avatar of the agent */
      image_url?: string | undefined
    }
    data: LaunchedToken
  }
  /** Register a token that you launched. For the owner wallet on Solana or, where the agent has none, a wallet linked to the user who owns it. The name gets the suffix of the platform unless it has it. An agent has one token, which cannot be changed. */
  registerToken: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
      /** Solana address, base58 */
      token_mint: string
      token_name: string
      token_symbol: string
      token_mode: "pumpfun"
      /** Must be the wallet that signs, and the owner wallet where the agent has one */
      token_creator_wallet: string
      token_image_url?: string | undefined
      /** The transaction that created the mint. It is verified on chain */
      token_tx_hash?: string | undefined
    }
    data: Token
  }
  /** Get the token of an agent. */
  getToken: {
    input: {
      /** Agent id or slug */
      agent_id: string
    }
    data: Token
  }
  /** Get the metadata document of a token. The document that the mint of a launched token names. Wallets and explorers read it. */
  getTokenDocument: {
    input: {
      /** Agent id or slug */
      agent_id: string
    }
    data: TokenDocument
  }
  /** Mint the identity token of your agent. A token that cannot be transferred and names the agent’s profile. 402 charges nothing. 202 when it is not final after 12 seconds: repeat the request for its result. */
  mintIdentity: {
    input: {
      /** The id of an agent, agt_… */
      agent_id: string
    }
    data: AgentIdentity
  }
  /** Order a swap from USDC to SOL. Returns a transaction for your own wallet, checked to send exactly `amount_usd` of its USDC and to bring at least `min_out_sol`. Sign it without changing it, and send it with `POST /api/swap/execute` within 60 seconds. Nothing moves before. */
  orderSwap: {
    input: {
      /** A Solana wallet that is linked to your account */
      wallet: string
      /** USDC to sell, more than 0 and at most 1,000,000, such as "12.50" */
      amount_usd: string | number
      /** How much less than quoted the swap may bring, in hundredths of a percent */
      slippage_bps?: number | undefined
    }
    data: {
      order_id: string
      /** To sign with the wallet, in base64 */
      transaction: string
      /** USD, such as "12.50" */
      amount_usd: string
      /** The least that arrives in the wallet, in SOL */
      min_out_sol: string
      /** ISO 8601, UTC */
      expires_at: string
    }
  }
  /** Execute a swap. Submits the signed transaction once. `pending`: the chain does not show the outcome yet; repeat the request to read it, with a new Idempotency-Key or none. `failed` is final: nothing was moved. */
  executeSwap: {
    input: {
      /** The id of a swap, swp_… */
      order_id: string
      /** The ordered transaction with your signature, in base64 */
      signed_transaction: string
    }
    data: {
      order_id: string
      status: "confirmed" | "failed" | "pending"
      tx_signature: string
    }
  }
  /** List the markets of Earn. Venues that take USDC and earn with it, with their rates and where to send a deposit. `risk` says what can happen to the money. */
  listEarnMarkets: {
    input: Record<string, never>
    data: {
      /** Of the default market; null while it cannot be reached */
      treasury_wallet: string | null
      markets: ReadonlyArray<EarnMarket>
    }
  }
  /** Register a deposit. Send USDC to `treasury_wallet` of the market first, from a wallet of yours. Shares follow when the venue has the money. 202 while the transfer is not confirmed. What the venue does not take is refunded to the sender. You can lose money: read `risk`. */
  depositToEarn: {
    input: {
      /** What you sent, in USD: more than 0 and at most 1,000,000 */
      amount_usd: string | number
      /** The hash of your transfer to `treasury_wallet` */
      incoming_tx_hash: string
      /** `key` of a market. By default that of the first configured one */
      key?: string | undefined
    }
    data: EarnDeposit
  }
  /** List your positions. Your shares and what they are worth, and beside them your deposits and withdrawals. An owner also sees those of their agents. */
  listEarnPositions: {
    input: Record<string, never>
    data: ReadonlyArray<{
      key: string
      shares: string
      /** What was paid for these shares */
      principal_usd: string
      /** What they are worth now */
      value_usd: string
      /** Of your withdrawals that the vault has not paid for. They still gain and lose */
      queued_shares: string
      /** What those are worth now */
      queued_value_usd: string
      /** What the vault paid for your withdrawals and no payout has taken */
      unpaid_usd: string
      /** The agent that holds it; absent for your own */
      agent_id?: string | undefined
    }>
    more: {
      /** The newest 50 */
      deposits: ReadonlyArray<{
        deposit_id: string
        key: string
        network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
        /** USD, such as "12.50" */
        amount_usd: string
        incoming_tx_hash: string
        /** `active`: the shares exist. `refunded` to the sender; `held`: an operator decides */
        status: "waiting" | "received" | "deploying" | "active" | "refunded" | "held" | "failed"
        /** Why it, or the rest of it, is refunded, or why it is held or failed */
        failure: string | null
        /** The shares it got so far. A large deposit goes in parts */
        shares: string | null
        /** What they were worth then */
        value_usd: string | null
        /** ISO 8601, UTC */
        created_at: string
        /** ISO 8601, UTC */
        updated_at: string
        refund: {
          /** `reason` explains `held` and `failed` */
          status: "queued" | "held" | "sending" | "sent" | "failed"
          /** USD, such as "12.50" */
          amount_usd: string
          network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
          tx_hash: string | null
          /** Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others */
          hold_code: string | null
          /** When `contest_window` ends */
          held_until: string | null
          reason: string | null
        } | null
        /** The agent that holds it; absent for your own */
        agent_id?: string | undefined
      }>
      /** The newest 50 */
      withdrawals: ReadonlyArray<{
        withdrawal_id: string
        key: string
        /** `settled`: the vault pays for all of it now. `queued`: it is paid as liquidity arrives */
        status: "requested" | "settled" | "queued" | "rejected"
        /** Taken from your position. null while it is `requested` */
        shares_burned: string | null
        /** What the vault paid so far, and what the open shares are worth now: an estimate until `amount_is_final` */
        amount_usd: string | null
        /** Whether the vault has paid for all of its shares */
        amount_is_final: boolean
        /** What payouts to you were requested for */
        paid_usd: string
        /** The vault has not paid for them. They still gain and lose */
        open_shares: string
        /** What they are worth now */
        open_value_usd: string
        /** `liquidity` of the vault; `venue_check` by operators; `payout_minimum`: less than the network’s `min_payout_usd` is not sent */
        waits_for: "liquidity" | "venue_check" | "payout_minimum" | null
        destination_wallet: string
        /** The requested shares; null for all */
        shares: string | null
        /** The error code of a rejected withdrawal */
        failure: string | null
        /** What was paid of the amount so far */
        payouts: ReadonlyArray<{
          /** `reason` explains `held` and `failed` */
          status: "queued" | "held" | "sending" | "sent" | "failed"
          /** USD, such as "12.50" */
          amount_usd: string
          network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
          tx_hash: string | null
          /** Why it waits: `contest_window` until `held_until`, `contested` until that is decided, and others */
          hold_code: string | null
          /** When `contest_window` ends */
          held_until: string | null
          reason: string | null
        }>
        /** ISO 8601, UTC */
        created_at: string
        /** The agent that holds it; absent for your own */
        agent_id?: string | undefined
      }>
    }
  }
  /** Withdraw from a pool. Takes shares from your position and pays what the vault pays for them to a wallet that paid one of your deposits. Until then they gain and lose like all others. `queued` when free liquidity is short: all that wait are paid the same fraction as it arrives. 202 when it is not decided after 10 seconds: list your positions for its result. */
  withdrawFromEarn: {
    input: {
      /** How many shares to withdraw, such as "12.5". Or send `all` */
      shares?: string | number | undefined
      /** Withdraw all your shares. Or send `shares` */
      all?: true | undefined
      /** `key` of a market. By default that of the first configured one */
      key?: string | undefined
      /** A wallet that paid one of your deposits into this pool */
      destination_wallet?: string | undefined
    }
    data: EarnWithdrawal
  }
  /** List the pools of Earn. Each market has one pool, of which depositors hold shares. */
  listEarnPools: {
    input: Record<string, never>
    data: ReadonlyArray<EarnPool>
  }
  /** Get platform statistics. Counted by the transactions that change them, so they are exact at `updated_at`. A figure falls when what it counted is undone. */
  getPlatformStats: {
    input: Record<string, never>
    data: {
      /** Agents with an owner whose account is not deleted */
      agents: number
      /** Active services of agents with an owner */
      services: number
      /** Orders of every status */
      orders_created: number
      /** Orders that are paid and neither completed nor cancelled */
      orders_in_progress: number
      orders_completed: number
      orders_cancelled: number
      /** What buyers paid for completed orders, without what was refunded */
      settled_usd: string
      reviews: number
      /** ISO 8601, UTC */
      updated_at: string
    }
  }
  /** Get the agent leaderboard. Only agents with an owner and with settled money. With equal sums the older agent comes first. */
  agentLeaderboard: {
    input: {
      /** Maximum number of results */
      limit?: number | undefined
    }
    data: ReadonlyArray<Leader>
  }
  /** List recent activity. Newest first, at most 90 days back. Only agents with an owner appear. Private orders and their reviews do not. */
  listActivity: {
    input: {
      /** Only this kind */
      filter?: "all" | "registration" | "order" | "service" | "review" | "token_launch" | undefined
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<ActivityItem>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Get prices and market caps of tokens. By mint; null for a mint that the price source does not know. Prices are up to 30 seconds old, and up to 10 minutes while the price source does not respond. */
  getMarketData: {
    input: {
      /** Mint addresses of tokens on Solana */
      mints: ReadonlyArray<string>
    }
    data: Record<string, MarketData | null>
  }
  /** Get the treasury balances and liabilities. The newest snapshot of each network. A snapshot is taken every 30 seconds, a proof every 10 minutes. Networks without a snapshot are left out. */
  getSolvency: {
    input: Record<string, never>
    data: ReadonlyArray<NetworkSolvency>
  }
  /** List what was held and owed on each day. The snapshot of each day and network that is anchored too, newest first. */
  getSolvencyHistory: {
    input: {
      /** How many days to return, the newest ones */
      days?: number | undefined
    }
    data: ReadonlyArray<{
      network: "solana-mainnet" | "base-mainnet" | "alt-mainnet"
      /** UTC day */
      day: string
      /** ISO 8601, UTC */
      checked_at: string
      /** USDC in the treasury and at the cold address */
      assets_usd: string
      /** What was on its way to venues of Earn. It is no part of `assets_usd` */
      venues_usd: string
      /** Owed to users */
      liabilities_usd: string
    }>
  }
  /** Get proofs of what is owed to you. The liabilities to your wallets in the newest proof of each network, or in one snapshot of the last 90 days; largest first. For an agent: the liabilities to its owner’s wallet, and pending payouts to it. With `account`, also a liability whose payer is unknown. Check with the code in the documentation that each proof results in the published root. */
  getSolvencyProof: {
    input: {
      /** How many to return */
      limit?: number | undefined
      /** A snapshot of `GET /api/solvency/anchors` */
      snapshot_id?: string | undefined
      /** Only this account: yours, or one without a holder */
      account?: string | undefined
    }
    data: ReadonlyArray<LiabilityProof>
    more: {
      /** Number of smaller liabilities beyond the limit */
      omitted: number
      /** Your shares of the pools of Earn. `earn` of GET /api/solvency shows what is behind all shares */
      earn: ReadonlyArray<{
        key: string
        /** Of your positions */
        shares: string
        /** Of your withdrawals that the vault has not paid for */
        queued_shares: string
        /** What both are worth at the last reading */
        value_usd: string
      }>
    }
  }
  /** List the anchored roots of each day. Newest first. Each day the roots of all networks are published in one memo on Solana, so that everyone can check that all users get the same roots. */
  listAnchors: {
    input: {
      /** Maximum number of results */
      limit?: number | undefined
      /** `next_cursor` of the previous page */
      cursor?: string | undefined
    }
    data: ReadonlyArray<ReserveAnchor>
    more: {
      /** Pass it as `cursor` to get the next page; null on the last page */
      next_cursor: string | null
    }
  }
  /** Get the public settings. Networks, fees, identity provider, the origin of files, and what is switched off now. Caches may keep it for 10 seconds; with `If-None-Match` an unchanged response is 304. */
  getConfig: {
    input: Record<string, never>
    data: PublicConfig
  }
}

/** The data of each event of an agent. */
export interface SellerEvents {
  'order.created': {
    service_id: string
    brief: string
    reference_images?: ReadonlyArray<string> | undefined
    requirement_answers?: Record<string, unknown> | undefined
    status: string
    service_title: string
    payment_method?: string | undefined
  }
  'order.paid': {
    status: string
    service_title: string
  }
  'order.revision_requested': {
    feedback: string
    revision_count: number
    max_revisions: number
    is_extra: boolean
  }
  'order.disputed': {
    reason: string
  }
  'order.completed': {
    payout_failed: boolean
  }
  'order.cancelled': {
    previous_status: string
  }
  'order.message': {
    sender_type: "client"
    sender_name: string
    content: string
  }
  'order.payout_sent': {
    /** Decimal string, 2 to 6 decimals */
    amount_usd: string
    chain: "solana" | "base" | "alt"
    tx_hash: string
    destination: string
  }
  'order.payout_failed': {
    reason: string
    chain: "solana" | "base" | "alt"
    /** Decimal string, 2 to 6 decimals */
    amount_usd: string
    hint: string
  }
  'bounty.accepted': {
    bounty_id: string
    brief: string
    /** Decimal string, 2 to 6 decimals */
    budget_usd: string
    deadline_hours: number
  }
  'bounty.claim_rejected': {
    bounty_id: string
  }
  'workspace.generate': {
    deliverable_id: string
    prompt: string
    deadline: string
  }
  'webhook.test': {
    message: string
  }
}

/** The data of each event of a buyer. */
export interface BuyerEvents {
  'order.quoted': {
    /** Decimal string, 2 to 6 decimals */
    price_usd: string
    expires_at: string | null
    message: string | null
  }
  'order.accepted': {
    /** Decimal string, 2 to 6 decimals */
    price_usd: string
  }
  'order.paid': {
    status: string
    service_title: string
  }
  'order.delivered': {
    review_ends_at: string | null
  }
  'order.revision_declined': {
    /** An ISO 8601 time in UTC */
    review_ends_at: string
  }
  'order.completed': {
    outcome: "released" | "split"
  }
  'order.cancelled': {
    previous_status: string
    refunded: boolean
  }
  'order.payment_reversed': {
    previous_status: string
  }
  'order.refunded': {
    /** Decimal string, 2 to 6 decimals */
    amount_usd: string
    chain: "solana" | "base" | "alt"
    tx_hash: string
    destination: string
  }
  'order.message': {
    sender_type: "agent"
    sender_name: string
    content: string
  }
  'workspace.generated': {
    deliverable_id: string
    status: "completed" | "failed"
  }
}

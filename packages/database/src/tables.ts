// Written by `npm run db:types` from the migrated database; do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** Read as parsed JSON, written as text. */
type Json = ColumnType<unknown, string, string>

export interface Tables {
  agent_wallets: {
    agent_id: string
    chain: string
    address: string
    secret_sealed: Buffer
    created_at: Date
  }
  agents: {
    id: string
    name: string
    folded_name: string
    slug: string
    description: string
    capabilities: string[]
    ai_models: string[]
    avatar_url: string | null
    endpoint_url: string | null
    owner_user_id: string | null
    owner_wallet: string | null
    twitter_username: string | null
    verified: Generated<number>
    marketable: GeneratedAlways<boolean>
    payout_chain: string | null
    payout_wallet: string | null
    payout_address_base: string | null
    api_key_fingerprint: Buffer
    api_key_sealed: Buffer
    api_key_hint: string
    webhook_secret_sealed: Buffer | null
    total_orders: Generated<number>
    completed_orders: Generated<number>
    rating_sum: Generated<number>
    rating_count: Generated<number>
    service_count: Generated<number>
    token_mint: string | null
    featured_rank: number | null
    created_at: Date
    updated_at: Date
    search: GeneratedAlways<string>
  }
  audit_head: {
    only_row: Generated<boolean>
    seq: bigint
    seal: Buffer
  }
  audit_log: {
    seq: bigint
    at: Date
    actor: string
    act: string
    subject: string
    request_id: string
    details: Json
    seal: Buffer
  }
  deliveries: {
    id: string
    created_at: Date
    agent_id: string
    seq: bigint
    event: string
    order_id: string
    status: string
    attempts: Generated<number>
    due_at: Date | null
    first_attempt_at: Date | null
    ended_at: Date | null
    response_status: number | null
    failure: string | null
  }
  delivery_lanes: {
    agent_id: string
    last_seq: Generated<bigint>
    holder: string
    held_until: Date
  }
  event_counters: {
    agent_id: string
    last_seq: bigint
  }
  events: {
    agent_id: string
    seq: bigint
    at: Date
    event: string
    order_id: string
    data: Json
  }
  ledger_accounts: {
    id: string
    kind: string
    network: string
    asset: Generated<string>
    subject: string
    may_be_negative: boolean
    balance_micros: Generated<bigint>
    is_open: GeneratedAlways<boolean>
    created_at: Date
    updated_at: Date
  }
  ledger_journals: {
    id: string
    key: string
    reason: string
    subject: string
    agent_id: string | null
    network: string
    move_count: number
    at: Date
  }
  ledger_moves: {
    journal_id: string
    n: number
    account_id: string
    amount_micros: bigint
    network: string
    asset: Generated<string>
    at: Date
  }
  notifications: {
    recipient: string
    id: string
    kind: string
    title: string
    body: string
    data: Json
    created_at: Date
    read_at: Date | null
  }
  payout_signatures: {
    network: string
    reference: string
    payout_id: string
    n: number
    bytes: string
    nonce: bigint | null
    last_valid_height: bigint | null
    max_fee_per_gas: string | null
    max_priority_fee_per_gas: string | null
    is_dead: Generated<boolean>
    created_at: Date
  }
  payouts: {
    id: string
    network: string
    kind: string
    subject: string
    payee: string
    amount_micros: bigint
    state: string
    reason: string | null
    nonce: bigint | null
    final_reference: string | null
    created_at: Date
    updated_at: Date
    due_at: Date
  }
  rail_nonces: {
    network: string
    treasury: string
    next_nonce: bigint
  }
  requests: {
    scope: string
    key: string
    operation: string
    fingerprint: Buffer
    state: string
    attempt: Generated<number>
    leased_until: Date
    status: number | null
    answer_sealed: Buffer | null
    created_at: Date
  }
  switches: {
    name: string
    on_since: Date | null
    changed_at: Date
    changed_by: string
    reason: string
  }
  transfers: {
    network: string
    reference: string
    purpose: string
    payer: string | null
    amount_micros: bigint
    due_micros: bigint
    block_height: bigint
    block_hash: string
    happened_at: Date
    missing_since: Date | null
    state: string
    looked_at: Date
    created_at: Date
  }
  treasury_positions: {
    network: string
    position: string
    read_at: Date
  }
  unread_counters: {
    recipient: string
    unread: number
  }
  used_signatures: {
    wallet_key: string
    purpose: string
    signed_at_ms: bigint
    used_at: Date
  }
  user_wallets: {
    wallet_key: string
    idp_user_id: string
    chain: string
    address: string
    vouched_at: Date
  }
  users: {
    idp_user_id: string
    username: string | null
    display_name: string | null
    twitter_username: string | null
    google_email: string | null
    avatar_url: string | null
    bio: string | null
    created_at: Date
    updated_at: Date
  }
  worker_pools: {
    worker_id: string
    seen_at: Date
  }
}

// Written by `npm run db:types` from the migrated database; do not edit.
import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** Read as parsed JSON, written as text. */
type Json = ColumnType<unknown, string, string>

export interface Tables {
  activity: {
    kind: string
    subject: string
    id: GeneratedAlways<bigint>
    agent_id: string
    listing_id: string | null
    rating: number | null
    at: Date
  }
  agent_statistics: {
    agent_id: string
    completed_micros: bigint
    completed_orders: bigint
  }
  agent_tokens: {
    agent_id: string
    mint: string
    name: string
    symbol: string
    mode: string
    creator_wallet: string
    image_url: string | null
    description: string | null
    tx_hash: string | null
    created_at: Date
  }
  agent_wallets: {
    agent_id: string
    chain: string
    address: string
    secret_sealed: Buffer
    database_epoch: Generated<string>
    created_at: Date
  }
  agents: {
    id: string
    name: string
    name_skeleton: string
    written_skeleton: string
    renamed_at: Date | null
    previous_name: string | null
    slug: string
    description: string
    capabilities: string[]
    ai_models: string[]
    avatar_url: string | null
    twitter_username: string | null
    verified: Generated<number>
    featured_rank: number | null
    owner_user_id: string | null
    owner_wallet: string | null
    owner_proven_by: string | null
    owner_wallet_effective_at: Date | null
    marketable: GeneratedAlways<boolean>
    api_key_fingerprint: Buffer
    api_key_sealed: Buffer
    api_key_hint: string
    api_key_replaced_at: Date | null
    endpoint_url: string | null
    endpoint_proven_at: Date | null
    webhook_secret_sealed: Buffer | null
    previous_webhook_secret_sealed: Buffer | null
    webhook_secret_replaced_at: Date | null
    payout_chain: string | null
    payout_wallet: string | null
    payout_address_base: string | null
    payout_by_owner_only: Generated<boolean>
    pending_payout_chain: string | null
    pending_payout_wallet: string | null
    pending_payout_address_base: string | null
    pending_payout_since: Date | null
    pending_payout_by: string | null
    token_mint: string | null
    identity_mint: string | null
    total_orders: Generated<number>
    completed_orders: Generated<number>
    rating_sum: Generated<number>
    rating_count: Generated<number>
    stars: Generated<number[]>
    service_count: Generated<number>
    created_at: Date
    updated_at: Date
    last_seen_at: Generated<Date>
    closed_at: Date | null
    search: GeneratedAlways<string>
  }
  approvals: {
    id: string
    kind: string
    payload: Json
    subject: string
    summary: string
    reason: string
    proposer: string
    approver: string | null
    rejected_by: string | null
    state: Generated<string>
    created_at: Date
    expires_at: Date
    decided_at: Date | null
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
    credential: Json | null
    act: string
    subject: string
    request_id: string
    details: Json
    seal: Buffer
  }
  bounties: {
    id: string
    poster: string
    client_wallet: string
    client_proven_by: string | null
    title: string
    brief: string
    category: string
    budget_micros: bigint
    deadline_hours: number
    claim_window_hours: number
    reference_urls: string[]
    reference_images: string[]
    status: string
    pending_claims: Generated<number>
    created_at: Date
    updated_at: Date
    expires_at: Date
    search: GeneratedAlways<string>
  }
  bounty_claims: {
    id: string
    bounty_id: string
    agent_id: string
    message: string
    status: string
    created_at: Date
    expires_at: Date
    ended_at: Date | null
  }
  buyer_event_counters: {
    buyer: string
    last_seq: bigint
    database_epoch: Generated<string>
  }
  buyer_events: {
    buyer: string
    seq: bigint
    at: Date
    event: string
    order_id: string
    data: Json
  }
  creator_fees: {
    id: string
    agent_id: string
    mint: string
    mode: string
    amount_lamports: bigint
    agent_lamports: bigint
    partner_lamports: bigint
    buyback_lamports: bigint
    source_tx: string
    status: string
    recorded_by: string
    created_at: Date
    payment_tx: string | null
    paid_by: string | null
    paid_at: Date | null
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
  delivery_queues: {
    agent_id: string
    last_seq: Generated<bigint>
    holder: string
    held_until: Date
    database_epoch: Generated<string>
  }
  earn_deposits: {
    id: string
    pool_key: string
    holder: string
    network: string
    amount_micros: bigint
    status: string
    venue_transfer_id: string | null
    payer: string | null
    shares: string | null
    value_micros: bigint | null
    failure: string | null
    created_at: Date
    updated_at: Date
  }
  earn_fills: {
    withdrawal_id: string
    n: number
    subject: GeneratedAlways<string>
    amount_micros: bigint
    created_at: Date
  }
  earn_pools: {
    key: string
    network: string
    kind: string
    vault: string
    wallet: string
    total_shares: Generated<string>
    venue_shares: Generated<string>
    read_at: Date | null
    value_micros: bigint | null
    tvl_micros: bigint | null
    liquid_micros: bigint | null
    accepts_deposits: Generated<boolean>
    paused: string | null
    created_at: Date
  }
  earn_positions: {
    pool_key: string
    holder: string
    shares: string
    principal_micros: bigint
    updated_at: Date
  }
  earn_prices: {
    pool_key: string
    at: Date
    price: string
  }
  earn_withdrawals: {
    id: string
    pool_key: string
    holder: string
    shares: string | null
    destination: string
    status: string
    burned_shares: string | null
    amount_micros: bigint | null
    filled_micros: Generated<bigint>
    was_liquid: boolean | null
    failure: string | null
    created_at: Date
    updated_at: Date
  }
  event_counters: {
    agent_id: string
    last_seq: bigint
    database_epoch: Generated<string>
  }
  events: {
    agent_id: string
    seq: bigint
    at: Date
    event: string
    order_id: string
    data: Json
  }
  followed_networks: {
    network: string
    final_height: bigint
    final_hash: string
    final_at: Date | null
    treasury: string
    cold: string | null
    held_height: bigint | null
    treasury_micros: bigint | null
    cold_micros: bigint | null
    moved_micros: Generated<bigint>
    confirmed_at: Date | null
    position: string | null
    head_height: bigint | null
    read_at: Date | null
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
  listing_buyers: {
    listing_id: string
    buyer: string
  }
  listing_prices: {
    listing_id: string
    price_micros: bigint
    valid_until: Date
  }
  listings: {
    id: string
    agent_id: string
    slug: string
    category: string
    title: string
    description: string
    price_type: string
    price_micros: bigint | null
    turnaround_hours: number
    deliverables: string[]
    demo_url: string | null
    quota_limit: number
    max_revisions: number
    requirement_fields: Json
    active: boolean
    marketable: boolean
    total_orders: Generated<number>
    completed_orders: Generated<number>
    completed_buyers: Generated<number>
    rating_sum: Generated<number>
    rating_count: Generated<number>
    stars: Generated<number[]>
    created_at: Date
    updated_at: Date
    search: GeneratedAlways<string>
  }
  notifications: {
    id: string
    recipient: string
    kind: string
    about: string | null
    title: string
    body: string
    data: Json
    created_at: Date
    read_at: Date | null
  }
  oauth_changes: {
    grant_id: string
    operation: string
    subject: string
    fields: string[]
    changed_at: Date
  }
  oauth_grants: {
    id: string
    idp_user_id: string
    agent_id: string | null
    client_id: string
    client_name: string
    redirect_host: string
    scopes: string[]
    created_at: Date
    last_used_at: Date | null
    ended_at: Date | null
  }
  oauth_keys: {
    id: string
    keys_sealed: Buffer
    created_at: Date
  }
  oauth_records: {
    model: string
    id: string
    payload: Json
    grant_id: string | null
    created_at: Date
    consumed_at: Date | null
    expires_at: Date | null
  }
  opened_token_accounts: {
    agent_id: string
    payee: string
    payout_id: string
    opened_at: Date
  }
  order_deliveries: {
    order_id: string
    n: number
    note: string | null
    items: Json
    at: Date
  }
  order_messages: {
    id: string
    order_id: string
    sender_type: string
    sender_name: string
    content: string
    created_at: Date
  }
  order_steps: {
    order_id: string
    n: number
    action: string
    from_status: string
    to_status: string
    role: string
    actor: string
    at: Date
  }
  orders: {
    id: string
    listing_id: string | null
    bounty_id: string | null
    agent_id: string
    buyer: string
    client_wallet: string | null
    client_proven_by: string | null
    for_principal: Generated<boolean>
    status: string
    title: string
    brief: string
    reference_urls: string[]
    reference_images: string[]
    requirement_answers: Json
    is_private: boolean
    turnaround_hours: number
    max_revisions: number
    revision_count: number
    price_type: string
    price_micros: bigint | null
    quote_message: string | null
    price_until: Date | null
    payment_method: string | null
    payment_error: string | null
    payment_network: string | null
    payment_reference: string | null
    paid_at: Date | null
    payer_proven: boolean
    payout_waits_until: Date | null
    contested_at: Date | null
    contest_ends_at: Date | null
    deliver_by: Date | null
    delivered_at: Date | null
    review_ends_at: Date | null
    review_left_ms: bigint | null
    complaint: string | null
    quota_total: Generated<number>
    quota_used: Generated<number>
    quota_pending: Generated<number>
    quota_failed: Generated<number>
    workspace_ends_at: Date | null
    renewal_offered_at: Date | null
    closed_at: Date | null
    outcome: string | null
    agent_part_micros: bigint | null
    due_at: Date | null
    created_at: Date
    updated_at: Date
  }
  outgoing_accounts: {
    network: string
    account: string
    compared_nonces: bigint
  }
  outgoing_horizons: {
    network: string
    database_epoch: string
    height: bigint
  }
  outgoing_transactions: {
    action_id: string
    n: number
    kind: string
    network: string
    account: string
    reference: string
    bytes: string | null
    nonce: bigint | null
    last_valid_height: bigint | null
    max_fee_per_gas: bigint | null
    max_priority_fee_per_gas: bigint | null
    created_at: Date
  }
  outgoing_transfers: {
    network: string
    reference: string
    transfer_index: number
    mark: string | null
    payee: string | null
    amount_micros: bigint
    block_height: bigint
    block_hash: string
    happened_at: Date
    is_final: boolean
    written_off_at: Date | null
    paired_with: string | null
    created_at: Date
    read_at: Generated<Date>
  }
  payment_intents: {
    id: string
    purpose_kind: string
    purpose_id: string
    network: string
    reference: string
    scope: string | null
    request: Json | null
    payers: string[] | null
    due_micros: bigint
    not_before: Date
    status: string
    why: string | null
    payment: Json | null
    bytes: string | null
    gas_account: string | null
    nonce: bigint | null
    signed_at_height: bigint | null
    last_valid_height: bigint | null
    confirmations: number | null
    required_confirmations: number | null
    block_height: bigint | null
    created_at: Date
    checked_at: Date
  }
  payout_addresses: {
    agent_id: string
    network: string
    address: string
    seen_at: Date
    effective_at: Date
  }
  payout_batches: {
    network: string
    account: string
    nonce: bigint
    reference: string | null
    max_fee_per_gas: bigint
    max_priority_fee_per_gas: bigint
    sent_at: Date
  }
  payout_changes: {
    id: GeneratedAlways<bigint>
    agent_id: string
    due_at: Generated<Date>
  }
  payout_confirmations: {
    agent_id: string
    address: string
    signature: string
    signed_at_ms: bigint
  }
  payout_costs: {
    payout_id: string
    round: number
    network: string
    native: string
    at: Date
  }
  payout_counters: {
    network: string
    scope: string
    hour: Date
    capped_micros: Generated<bigint>
    capped_in_flight_micros: Generated<bigint>
    in_flight_micros: Generated<bigint>
    native: Generated<string>
    has_in_flight: GeneratedAlways<boolean>
  }
  payout_guards: {
    network: string
    database_epoch: string
    horizon: bigint
    alive_until: Date | null
    alive_height: bigint | null
    claims_known_until: Date | null
    compared_at: Date | null
    counted_epoch: string | null
    short_since: Date | null
    short_micros: Generated<bigint>
    disagreement: string | null
    updated_at: Date
    read_at: Date | null
  }
  payout_signatures: {
    network: string
    reference: string
    payout_id: string
    round: Generated<number>
    n: number
    bytes: string
    valid_to: bigint
    submit_at: Date | null
    is_dead: Generated<boolean>
    created_at: Date
  }
  payout_totals: {
    agent_id: string
    network: string
    paid_out_micros: bigint
  }
  payout_transfers: {
    payout_id: string
    network: string
    reference: string
    transfer_index: number
    amount_micros: bigint
  }
  payout_treasuries: {
    network: string
    treasury: string
  }
  payouts: {
    id: string
    network: string
    kind: string
    subject: string
    purpose: string | null
    unmatched_from: string | null
    unmatched_transfer: string | null
    agent_id: string | null
    payee: string | null
    amount_micros: bigint
    state: string
    mark_round: Generated<number>
    mark: GeneratedAlways<string>
    round: Generated<number>
    hold_code: string | null
    hold_detail: string | null
    reason: string | null
    not_before: Date | null
    contested_at: Date | null
    approval_id: string | null
    approved_at: Date | null
    counts_against_caps: Generated<boolean>
    counted_at: Date | null
    opens_account: Generated<boolean>
    final_reference: string | null
    notified_agent: string | null
    created_at: Date
    updated_at: Date
    due_at: Date
  }
  portfolio_hidden: {
    agent_id: string
    source_type: string
    source_id: string
    order_id: string
    hidden_at: Date
  }
  purchase_namings: {
    purchase_id: string
    n: number
    subject: string
    request: Json
    fingerprint: Buffer
    amount_micros: bigint
    named_at: Date
  }
  purchases: {
    id: string
    network: string
    kind: string
    proof: string
    subject: string
    request: Json
    fingerprint: Buffer
    request_key: string | null
    binding: string
    payer: string | null
    amount_micros: bigint
    state: string
    lease_until: Date
    database_epoch: Generated<string>
    reference: string | null
    result_id: string | null
    why: string | null
    contested_at: Date | null
    created_at: Date
    updated_at: Date
  }
  refund_requests: {
    unmatched_id: string
    wallet: string
    note: string
    created_at: Date
  }
  requests: {
    scope: string
    key: string
    operation: string
    fingerprint: Buffer
    state: string
    attempt: Generated<number>
    leased_until: Date
    database_epoch: Generated<string>
    status: number | null
    response_sealed: Buffer | null
    created_at: Date
  }
  reserve_anchors: {
    day: string
    text: string
    trees: Json
    signatures: Generated<Json>
    reference: string | null
    network: string | null
    account: string | null
    final_at: Date | null
    due_at: Date
    created_at: Date
  }
  reserve_leaves: {
    snapshot_id: string
    n: number
    account_id: string
    holder: string | null
    amount_micros: bigint
    salt: string
  }
  reserve_snapshots: {
    id: string
    network: string
    taken_at: Date
    treasury: string
    final_micros: bigint
    latest_micros: bigint
    cold_address: string | null
    cold_micros: bigint | null
    ledger_micros: bigint
    in_flight_micros: bigint
    in_flight: Json
    in_flight_count: number
    venues_micros: bigint
    escrow_micros: bigint
    payable_micros: bigint
    surplus_micros: bigint
    suspense_micros: bigint
    fees_micros: bigint
    earn_micros: bigint
    unfinal_micros: bigint
    short_micros: bigint
    root: string | null
    leaf_count: number | null
    groups: Json | null
    wallets_root: string | null
    wallet_count: number | null
    wallets_micros: bigint | null
    day: string | null
  }
  reviews: {
    id: string
    order_id: string
    listing_id: string | null
    agent_id: string
    buyer: string
    rating: number
    comment: string
    created_at: Date
  }
  sessions: {
    id: string
    idp_user_id: string | null
    access_token_sealed: Buffer | null
    access_expires_at: Date | null
    refresh_token_sealed: Buffer | null
    refreshing_until: Date | null
    wallet_key: string | null
    wallet_chain: string | null
    wallet_address: string | null
    wallet_proven_by: string | null
    signature: string | null
    signed_at_ms: bigint | null
    checked_at: Date | null
    created_at: Date
    expires_at: Date
  }
  statistic_changes: {
    id: GeneratedAlways<bigint>
    name: string
    agent_id: string | null
    amount: bigint
    created_at: Generated<Date>
  }
  statistics: {
    name: string
    value: bigint
  }
  swap_orders: {
    id: string
    user_id: string
    wallet: string
    amount_micros: bigint
    min_out_lamports: bigint
    message_sha256: Buffer
    maker_request: string
    last_valid_height: bigint
    status: string
    signature: string | null
    created_at: Date
    expires_at: Date
    executed_at: Date | null
  }
  sweep_clock: {
    only_row: Generated<boolean>
    started_until: Date
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
    transfer_index: Generated<number>
    subject: GeneratedAlways<string>
    purpose: string
    payer: string | null
    amount_micros: bigint
    due_micros: bigint
    block_height: bigint
    block_hash: string
    happened_at: Date
    missing_since: Date | null
    state: string
    claimed_at: Date | null
    checked_at: Date
    created_at: Date
  }
  unproven_attempts: {
    subject: string
    attempted_at: Date[]
    proven_at: Date | null
    updated_at: Date
  }
  unread_counters: {
    recipient: string
    unread: number
  }
  upload_totals: {
    day: Date
    owner: string
    files: number
    bytes: bigint
  }
  upload_uses: {
    upload_id: string
    subject: string
    ended: Generated<boolean>
  }
  uploads: {
    id: string
    owner: string
    file_name: string
    media_type: string
    state: string
    size_bytes: bigint | null
    sha256: Buffer | null
    used_for: string | null
    used_at: Date | null
    is_private: boolean | null
    created_at: Date
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
    verified_at: Date
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
    deleted_at: Date | null
  }
  venue_transfers: {
    id: string
    kind: string
    pool_key: string
    network: string
    amount_micros: bigint
    state: string
    problem: string | null
    venue_shares: string | null
    assets_micros: bigint | null
    reference: string | null
    created_at: Date
    updated_at: Date
  }
  wallet_transactions: {
    id: string
    agent_id: string
    wallet: string
    kind: string
    requested_by: string
    asset: string | null
    destination: string | null
    amount: bigint | null
    token_name: string | null
    token_symbol: string | null
    token_uri: string | null
    token_description: string | null
    token_image_url: string | null
    public_key: string | null
    exported_key: string | null
    owner_wallet: string | null
    owner_signature: string | null
    owner_signed_at_ms: bigint | null
    status: string
    reference: string | null
    mint: string | null
    signed_at: Date | null
    failure: string | null
    created_at: Date
    updated_at: Date
    due_at: Date
  }
  withdraw_addresses: {
    id: string
    agent_id: string
    address: string
    set_by: string
    created_at: Date
    effective_at: Date
    cancelled_at: Date | null
    owner_signature: string | null
    owner_signed_at_ms: bigint | null
    stored_at: Generated<Date>
  }
  withdraw_delays: {
    address_id: string
    notified_at: Date | null
  }
  worker_pools: {
    worker_id: string
    seen_at: Date
  }
  workspace_deliverables: {
    id: string
    order_id: string
    prompt: string
    status: string
    item: Json | null
    failure: string | null
    deadline: Date
    created_at: Date
    ended_at: Date | null
  }
}

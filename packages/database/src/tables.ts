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
    approval_id: string | null
    reversed_at: Date | null
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
  earn_deposit_parts: {
    venue_transfer_id: string
    deposit_id: string
    amount_micros: bigint
    shares: string | null
  }
  earn_deposits: {
    id: string
    pool_key: string
    holder: string
    network: string
    amount_micros: bigint
    status: string
    moved_micros: Generated<bigint>
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
    queued_shares: Generated<string>
    venue_shares: Generated<string>
    ratio_vault_shares: string | null
    ratio_shares: string | null
    read_at: Date | null
    value_micros: bigint | null
    valued_shares: string | null
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
  earn_recall_parts: {
    venue_transfer_id: string
    withdrawal_id: string
    shares: string
    amount_micros: bigint | null
  }
  earn_withdrawals: {
    id: string
    pool_key: string
    holder: string
    shares: string | null
    destination: string
    status: string
    burned_shares: string | null
    open_shares: Generated<string>
    recalled_shares: Generated<string>
    paid_micros: Generated<bigint>
    filled_micros: Generated<bigint>
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
    proof: string | null
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
    transfer_index: Generated<number>
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
    amount_micros: bigint | null
    asked_shares: string | null
    state: string
    problem: string | null
    venue_shares: string | null
    assets_micros: bigint | null
    reference: string | null
    created_at: Date
    updated_at: Date
  }
  wallet_balances: {
    network: string
    agent_id: string
    address: string
    amount_micros: bigint
  }
  wallet_readings: {
    network: string
    day: string
    after_agent: string
    is_complete: boolean
  }
  wallet_transactions: {
    id: string
    agent_id: string
    wallet: string
    kind: string
    requested_by: string
    asset: string | null
    asset_decimals: number | null
    destination: string | null
    amount: string | null
    is_all: Generated<boolean>
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

/** The names of the columns, which `rows.ts` splits. */
export const COLUMNS: Readonly<Record<keyof Tables, string>> = {
  activity: 'kind subject id agent_id listing_id rating at',
  agent_statistics: 'agent_id completed_micros completed_orders',
  agent_tokens: 'agent_id mint name symbol mode creator_wallet image_url description tx_hash created_at',
  agent_wallets: 'agent_id chain address secret_sealed database_epoch created_at',
  agents:
    'id name name_skeleton written_skeleton renamed_at previous_name slug description capabilities ai_models avatar_url twitter_username verified featured_rank owner_user_id owner_wallet owner_proven_by owner_wallet_effective_at marketable api_key_fingerprint api_key_sealed api_key_hint api_key_replaced_at endpoint_url endpoint_proven_at webhook_secret_sealed previous_webhook_secret_sealed webhook_secret_replaced_at payout_chain payout_wallet payout_address_base payout_by_owner_only pending_payout_chain pending_payout_wallet pending_payout_address_base pending_payout_since pending_payout_by token_mint identity_mint total_orders completed_orders rating_sum rating_count stars service_count created_at updated_at last_seen_at closed_at search',
  approvals:
    'id kind payload subject summary reason proposer approver rejected_by state created_at expires_at decided_at',
  audit_head: 'only_row seq seal',
  audit_log: 'seq at actor credential act subject request_id details seal',
  bounties:
    'id poster client_wallet client_proven_by title brief category budget_micros deadline_hours claim_window_hours reference_urls reference_images status pending_claims created_at updated_at expires_at search',
  bounty_claims: 'id bounty_id agent_id message status created_at expires_at ended_at',
  buyer_event_counters: 'buyer last_seq database_epoch',
  buyer_events: 'buyer seq at event order_id data',
  creator_fees:
    'id agent_id mint mode amount_lamports agent_lamports partner_lamports buyback_lamports source_tx status recorded_by created_at payment_tx paid_by paid_at approval_id reversed_at',
  deliveries:
    'id created_at agent_id seq event order_id status attempts due_at first_attempt_at ended_at response_status failure',
  delivery_queues: 'agent_id last_seq holder held_until database_epoch',
  earn_deposit_parts: 'venue_transfer_id deposit_id amount_micros shares',
  earn_deposits:
    'id pool_key holder network amount_micros status moved_micros payer shares value_micros failure created_at updated_at',
  earn_fills: 'withdrawal_id n subject amount_micros created_at',
  earn_pools:
    'key network kind vault wallet total_shares queued_shares venue_shares ratio_vault_shares ratio_shares read_at value_micros valued_shares tvl_micros liquid_micros accepts_deposits paused created_at',
  earn_positions: 'pool_key holder shares principal_micros updated_at',
  earn_prices: 'pool_key at price',
  earn_recall_parts: 'venue_transfer_id withdrawal_id shares amount_micros',
  earn_withdrawals:
    'id pool_key holder shares destination status burned_shares open_shares recalled_shares paid_micros filled_micros failure created_at updated_at',
  event_counters: 'agent_id last_seq database_epoch',
  events: 'agent_id seq at event order_id data',
  followed_networks:
    'network final_height final_hash final_at treasury cold held_height treasury_micros cold_micros moved_micros confirmed_at position head_height read_at',
  ledger_accounts:
    'id kind network asset subject may_be_negative balance_micros is_open created_at updated_at',
  ledger_journals: 'id key reason subject agent_id network move_count at',
  ledger_moves: 'journal_id n account_id amount_micros network asset at',
  listing_buyers: 'listing_id buyer',
  listing_prices: 'listing_id price_micros valid_until',
  listings:
    'id agent_id slug category title description price_type price_micros turnaround_hours deliverables demo_url quota_limit max_revisions requirement_fields active marketable total_orders completed_orders completed_buyers rating_sum rating_count stars created_at updated_at search',
  notifications: 'id recipient kind about title body data created_at read_at',
  oauth_changes: 'grant_id operation subject fields changed_at',
  oauth_grants:
    'id idp_user_id agent_id client_id client_name redirect_host scopes created_at last_used_at ended_at',
  oauth_keys: 'id keys_sealed created_at',
  oauth_records: 'model id payload grant_id created_at consumed_at expires_at',
  opened_token_accounts: 'agent_id payee payout_id opened_at',
  order_deliveries: 'order_id n note items at',
  order_messages: 'id order_id sender_type sender_name content created_at',
  order_steps: 'order_id n action from_status to_status role actor at',
  orders:
    'id listing_id bounty_id agent_id buyer client_wallet client_proven_by for_principal status title brief reference_urls reference_images requirement_answers is_private turnaround_hours max_revisions revision_count price_type price_micros quote_message price_until payment_method payment_error payment_network payment_reference paid_at payer_proven payout_waits_until contested_at contest_ends_at deliver_by delivered_at review_ends_at review_left_ms complaint quota_total quota_used quota_pending quota_failed workspace_ends_at renewal_offered_at closed_at outcome agent_part_micros due_at created_at updated_at',
  outgoing_accounts: 'network account compared_nonces',
  outgoing_horizons: 'network database_epoch height',
  outgoing_transactions:
    'action_id n kind network account reference bytes nonce last_valid_height max_fee_per_gas max_priority_fee_per_gas created_at',
  outgoing_transfers:
    'network reference transfer_index mark payee amount_micros block_height block_hash happened_at is_final written_off_at paired_with created_at read_at',
  payment_intents:
    'id purpose_kind purpose_id network reference scope request payers due_micros not_before status why payment proof bytes gas_account nonce signed_at_height last_valid_height confirmations required_confirmations block_height created_at checked_at',
  payout_addresses: 'agent_id network address seen_at effective_at',
  payout_batches: 'network account nonce reference max_fee_per_gas max_priority_fee_per_gas sent_at',
  payout_changes: 'id agent_id due_at',
  payout_confirmations: 'agent_id address signature signed_at_ms',
  payout_costs: 'payout_id round network native at',
  payout_counters:
    'network scope hour capped_micros capped_in_flight_micros in_flight_micros native has_in_flight',
  payout_guards:
    'network database_epoch horizon alive_until alive_height claims_known_until compared_at counted_epoch short_since short_micros disagreement updated_at read_at',
  payout_signatures:
    'network reference transfer_index payout_id round n bytes valid_to submit_at is_dead created_at',
  payout_totals: 'agent_id network paid_out_micros',
  payout_transfers: 'payout_id network reference transfer_index amount_micros',
  payout_treasuries: 'network treasury',
  payouts:
    'id network kind subject purpose unmatched_from unmatched_transfer agent_id payee amount_micros state mark_round mark round hold_code hold_detail reason not_before contested_at approval_id approved_at counts_against_caps counted_at opens_account final_reference notified_agent created_at updated_at due_at',
  portfolio_hidden: 'agent_id source_type source_id order_id hidden_at',
  purchase_namings: 'purchase_id n subject request fingerprint amount_micros named_at',
  purchases:
    'id network kind proof subject request fingerprint request_key binding payer amount_micros state lease_until database_epoch reference result_id why contested_at created_at updated_at',
  refund_requests: 'unmatched_id wallet note created_at',
  requests:
    'scope key operation fingerprint state attempt leased_until database_epoch status response_sealed created_at',
  reserve_anchors: 'day text trees signatures reference network account final_at due_at created_at',
  reserve_leaves: 'snapshot_id n account_id holder amount_micros salt',
  reserve_snapshots:
    'id network taken_at treasury final_micros latest_micros cold_address cold_micros ledger_micros in_flight_micros in_flight in_flight_count venues_micros escrow_micros payable_micros surplus_micros suspense_micros fees_micros earn_micros unfinal_micros short_micros root leaf_count groups wallets_root wallet_count wallets_micros day',
  reviews: 'id order_id listing_id agent_id buyer rating comment created_at',
  sessions:
    'id idp_user_id access_token_sealed access_expires_at refresh_token_sealed refreshing_until wallet_key wallet_chain wallet_address wallet_proven_by signature signed_at_ms checked_at created_at expires_at',
  statistic_changes: 'id name agent_id amount created_at',
  statistics: 'name value',
  swap_orders:
    'id user_id wallet amount_micros min_out_lamports message_sha256 maker_request last_valid_height status signature created_at expires_at executed_at',
  sweep_clock: 'only_row started_until',
  switches: 'name on_since changed_at changed_by reason',
  transfers:
    'network reference transfer_index subject purpose payer amount_micros due_micros block_height block_hash happened_at missing_since state claimed_at checked_at created_at',
  unproven_attempts: 'subject attempted_at proven_at updated_at',
  unread_counters: 'recipient unread',
  upload_totals: 'day owner files bytes',
  upload_uses: 'upload_id subject ended',
  uploads: 'id owner file_name media_type state size_bytes sha256 used_for used_at is_private created_at',
  used_signatures: 'wallet_key purpose signed_at_ms used_at',
  user_wallets: 'wallet_key idp_user_id chain address verified_at',
  users:
    'idp_user_id username display_name twitter_username google_email avatar_url bio created_at updated_at deleted_at',
  venue_transfers:
    'id kind pool_key network amount_micros asked_shares state problem venue_shares assets_micros reference created_at updated_at',
  wallet_balances: 'network agent_id address amount_micros',
  wallet_readings: 'network day after_agent is_complete',
  wallet_transactions:
    'id agent_id wallet kind requested_by asset asset_decimals destination amount is_all token_name token_symbol token_uri token_description token_image_url public_key exported_key owner_wallet owner_signature owner_signed_at_ms status reference mint signed_at failure created_at updated_at due_at',
  withdraw_addresses:
    'id agent_id address set_by created_at effective_at cancelled_at owner_signature owner_signed_at_ms stored_at',
  withdraw_delays: 'address_id notified_at',
  worker_pools: 'worker_id seen_at',
  workspace_deliverables: 'id order_id prompt status item failure deadline created_at ended_at',
}

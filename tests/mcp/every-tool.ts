import { PAYEE } from '../support/agent-wallets.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'

type Fields = Readonly<Record<string, unknown>>

const NONE = 'ord_1700000000000_zzzzzz'
const NO_BOUNTY = 'bnty_1700000000000_zzzzzz'
const TRANSFER = `0x${'ab'.repeat(32)}`

/** Arguments of every tool, and the status of its error where they lead to one. */
export const everyTool = (
  serviceId: string,
): Readonly<Record<string, readonly [Fields, status?: number]>> => ({
  market_register_agent: [{ name: someName(), description: DESCRIPTION }],
  market_get_profile: [{}],
  market_update_profile: [{ description: DESCRIPTION }],
  market_verify_twitter: [{}, 410],
  market_manage_portfolio: [{ action: 'hide', source_type: 'order', source_id: NONE }, 404],
  market_list_services: [{}],
  market_create_service: [
    {
      ...{ title: 'Reads a branch', description: 'Reads the whole branch and writes what is wrong.' },
      ...{ category: 'coding', price_usd: '5.00', price_type: 'fixed', turnaround_hours: 24 },
    },
  ],
  market_update_service: [{ service_id: serviceId, title: 'Reads two branches' }],
  market_delete_service: [{ service_id: 'svc_1700000000000_zzzzzz' }, 404],
  market_poll_orders: [{}],
  market_get_order: [{ order_id: NONE }, 404],
  market_quote_order: [{ order_id: NONE, price_usd: '1.00' }, 404],
  market_deliver_order: [{ order_id: NONE, deliverables: [{ type: 'text', content: 'It is blue.' }] }, 404],
  market_approve_order: [{ order_id: NONE }, 404],
  market_cancel_order: [{ order_id: NONE }, 404],
  market_request_revision: [{ order_id: NONE, feedback: 'More blue' }, 404],
  market_dispute_order: [{ order_id: NONE, reason: 'It is green' }, 404],
  market_send_message: [{ order_id: NONE, content: 'Please hurry.' }, 404],
  market_get_messages: [{ order_id: NONE }, 404],
  market_list_bounties: [{}],
  market_get_bounty: [{ bounty_id: NO_BOUNTY }, 404],
  market_claim_bounty: [{ bounty_id: NO_BOUNTY, message: 'I have done this before.' }, 404],
  market_withdraw_claim: [{ bounty_id: NO_BOUNTY }, 404],
  market_get_token: [{}, 404],
  market_register_token: [
    {
      ...{
        agent_id: 'agt_1700000000000_zzzzzz',
        token_mint: PAYEE,
        token_name: 'A Token',
        token_symbol: 'TOK',
      },
      ...{ token_mode: 'pumpfun', token_creator_wallet: PAYEE },
    },
    403,
  ],
  market_launch_token: [{ symbol: 'TOK' }, 400],
  // These processes have no market of Earn.
  market_earn_markets: [{}, 503],
  market_earn_positions: [{}],
  market_earn_deposit: [{ amount_usd: '100.00', incoming_tx_hash: TRANSFER }, 503],
  market_earn_withdraw: [{ all: true }, 503],
  market_search_agents: [{ query: 'branch' }],
  market_get_payment_requirements: [{ service_id: 'svc_1700000000000_zzzzzz' }, 404],
  market_submit_payment: [
    { service_id: 'svc_1700000000000_zzzzzz', brief: 'Read the branch.', payment: TRANSFER },
    404,
  ],
  market_browse_agents: [{ limit: 1 }],
  market_featured_agents: [{}],
  market_platform_stats: [{}],
  market_activity_feed: [{ filter: 'order', limit: 5 }],
  market_get_market_data: [{ mints: ['So11111111111111111111111111111111111111112'] }],
  market_list_models: [{}],
})

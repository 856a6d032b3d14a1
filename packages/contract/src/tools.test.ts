import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { toolList, tools } from './tools.ts'

const served = tools.filter((one) => 'operation' in one)

/**
 * The 39 tools of the specification in its order: name, operation, scope, hints that are true, and arguments (* required).
 * Clients cache the list, so a change here is a change for them.
 */
const TABLE = `
market_register_agent           | registerAgent       | market:keys  | -                                | name* description* capabilities ai_models endpoint_url avatar_url owner_wallet wallet wallet_sig wallet_sig_ts wallet_chain
market_get_profile              | getMyAgent          | market:read  | readOnly idempotent              | -
market_update_profile           | updateMyAgent       | market:write | destructive idempotent           | name description capabilities ai_models avatar_url endpoint_url payout_chain payout_wallet payout_address_base owner_wallet
market_verify_twitter           | -                   | -            | destructive idempotent           | tweet_url
market_manage_portfolio         | updatePortfolio     | market:write | destructive idempotent openWorld | agent_id action* source_type* source_id*
market_list_services            | listAgentServices   | market:read  | readOnly idempotent openWorld    | agent_id limit cursor
market_create_service           | createService       | market:write | -                                | agent_id category* title* description* price_type* price_usd turnaround_hours deliverables demo_url quota_limit max_revisions requirement_fields
market_update_service           | updateService       | market:write | destructive idempotent           | service_id* category title description price_type price_usd turnaround_hours deliverables demo_url quota_limit max_revisions requirement_fields active
market_delete_service           | deleteService       | market:write | destructive idempotent           | service_id*
market_poll_orders              | listAgentOrders     | market:read  | readOnly idempotent openWorld    | agent_id status service_id since limit cursor
market_get_order                | getOrder            | market:read  | readOnly idempotent openWorld    | order_id*
market_quote_order              | quoteOrder          | market:write | destructive idempotent openWorld | order_id* price_usd* expires_in_hours message
market_deliver_order            | deliverOrder        | market:write | openWorld                        | order_id* deliverable_url deliverable_media_type deliverables note
market_approve_order            | actOnOrder          | market:write | destructive idempotent openWorld | order_id*
market_cancel_order             | actOnOrder          | market:write | destructive idempotent openWorld | order_id*
market_request_revision         | actOnOrder          | market:write | openWorld                        | order_id* feedback*
market_dispute_order            | actOnOrder          | market:write | destructive idempotent openWorld | order_id* reason*
market_send_message             | sendMessage         | market:write | openWorld                        | order_id* content*
market_get_messages             | listMessages        | market:read  | readOnly idempotent openWorld    | order_id* limit cursor
market_list_bounties            | listBounties        | market:read  | readOnly idempotent openWorld    | status category min_budget max_budget search sort limit cursor
market_get_bounty               | getBounty           | market:read  | readOnly idempotent openWorld    | bounty_id* include_claims
market_claim_bounty             | claimBounty         | market:write | openWorld                        | bounty_id* message
market_withdraw_claim           | withdrawClaim       | market:write | destructive idempotent           | bounty_id*
market_get_token                | getToken            | market:read  | readOnly idempotent openWorld    | agent_id
market_register_token           | registerToken       | market:write | -                                | agent_id* token_mint* token_name* token_symbol* token_mode* token_creator_wallet* token_image_url token_tx_hash wallet wallet_sig wallet_sig_ts wallet_chain
market_launch_token             | launchToken         | market:funds | -                                | agent_id symbol* description image_url
market_earn_markets             | listEarnMarkets     | market:read  | readOnly idempotent              | -
market_earn_positions           | listEarnPositions   | market:read  | readOnly idempotent              | -
market_earn_deposit             | depositToEarn       | market:funds | -                                | amount_usd* incoming_tx_hash* key wallet wallet_sig wallet_sig_ts wallet_chain
market_earn_withdraw            | withdrawFromEarn    | market:funds | destructive                      | shares all key destination_wallet
market_search_agents            | listPayableServices | market:read  | readOnly idempotent openWorld    | query category limit cursor
market_get_payment_requirements | hireService         | market:read  | readOnly idempotent openWorld    | service_id*
market_submit_payment           | payService          | market:funds | idempotent openWorld             | service_id* brief payment* network claim
market_browse_agents            | listAgents          | market:read  | readOnly idempotent openWorld    | search category model sort services tokenized owner_wallet limit cursor
market_featured_agents          | featuredAgents      | market:read  | readOnly idempotent openWorld    | limit cursor
market_platform_stats           | getPlatformStats    | market:read  | readOnly idempotent              | -
market_activity_feed            | listActivity        | market:read  | readOnly idempotent openWorld    | filter limit cursor
market_get_market_data          | getMarketData       | market:read  | readOnly idempotent              | mints*
market_list_models              | listModels          | market:read  | readOnly idempotent openWorld    | limit cursor
`

const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))

const wordsOf = (words: readonly string[]): string => (words.length === 0 ? '-' : words.join(' '))

type Listed = ReturnType<typeof toolList>[number]

function hintsOf({ annotations: { title: _, ...hints } }: Listed): string {
  return wordsOf(Object.entries(hints).flatMap(([name, isSet]) => (isSet ? [name.replace('Hint', '')] : [])))
}

function argumentsOf({ inputSchema }: Listed): string {
  const { properties = {}, required = [] } = inputSchema as { properties?: object; required?: string[] }
  return wordsOf(Object.keys(properties).map((name) => (required.includes(name) ? `${name}*` : name)))
}

const wrong = <T extends { readonly name: string }>(
  list: readonly T[],
  isRight: (one: T) => boolean,
): string[] => list.filter((one) => !isRight(one)).map(({ name }) => name)

describe('toolList', () => {
  test('has the 39 tools of the table, in its order', () => {
    const rows = toolList().map((listed, index) => {
      const one = tools[index]
      const [operation, scope] =
        one !== undefined && 'operation' in one ? [one.operation.id, one.scope] : ['-', '-']
      return [listed.name, operation, scope, hintsOf(listed), argumentsOf(listed)]
    })
    expect(rows).toHaveLength(39)
    expect(rows).toEqual(rowsOf(TABLE))
  })

  test('is deterministic', () => {
    expect(JSON.stringify(toolList())).toBe(JSON.stringify(toolList()))
  })

  test('has a title and a description for every tool, and the title among its annotations', () => {
    expect(
      wrong(toolList(), ({ title, description, annotations }) =>
        [title, description, annotations.title === title].every(Boolean),
      ),
    ).toEqual([])
  })

  test('inputs and outputs are object schemas without references, and inputs reject other arguments', () => {
    for (const { name, inputSchema, ...rest } of toolList()) {
      expect({ name, ...inputSchema }).toMatchObject({ name, type: 'object', additionalProperties: false })
      const output = 'outputSchema' in rest ? rest.outputSchema : { type: 'object' }
      expect({ name, ...output }).toMatchObject({ name, type: 'object' })
    }
    expect(JSON.stringify(toolList())).not.toMatch(/"\$(ref|defs|schema)"/)
  })

  test('only verify_twitter, whose endpoint is gone, and the x402 tools have no output schema', () => {
    expect(wrong(toolList(), (listed) => 'outputSchema' in listed)).toEqual([
      'market_verify_twitter',
      'market_get_payment_requirements',
      'market_submit_payment',
    ])
  })

  test('readOnlyHint is true exactly when the scope is for reads', () => {
    expect(
      wrong(served, ({ annotations, scope }) => annotations.readOnlyHint === (scope === 'market:read')),
    ).toEqual([])
  })

  test('arguments are fields of the operation, or credentials, except for a payment', () => {
    const unpaid = served.filter(({ isPaid }) => isPaid !== true)
    expect(unpaid).toHaveLength(37)
    for (const { name, input, inputOf, operation } of unpaid) {
      const given = Object.fromEntries(Object.keys(input.shape).map((field) => [field, 'x']))
      const { wallet, wallet_sig, wallet_sig_ts, wallet_chain, ...rest } = inputOf(given)
      const known = Object.keys((operation.input as z.ZodObject).shape)
      expect([name, Object.keys(rest).filter((field) => !known.includes(field))]).toEqual([name, []])
    }
  })

  test('market_activity_feed declares the filters of the specification', () => {
    const feed = toolList().find(({ name }) => name === 'market_activity_feed')
    expect(feed?.inputSchema).toMatchObject({
      properties: {
        filter: { enum: ['all', 'registration', 'order', 'service', 'review', 'token_launch'] },
      },
    })
  })
})

import { describe, expect, test } from 'vitest'
import type { z } from 'zod'
import { toolList, tools } from './tools.ts'

const served = tools.filter((one) => 'operation' in one)

const NAMES = [
  ...['register_agent', 'get_profile', 'update_profile', 'verify_twitter', 'manage_portfolio'],
  ...['list_services', 'create_service', 'update_service', 'delete_service'],
  ...['poll_orders', 'get_order', 'quote_order', 'deliver_order', 'approve_order', 'cancel_order'],
  ...['request_revision', 'dispute_order', 'send_message', 'get_messages'],
  ...['list_bounties', 'get_bounty', 'claim_bounty', 'withdraw_claim'],
  ...['get_token', 'register_token', 'launch_token'],
  ...['earn_markets', 'earn_positions', 'earn_deposit', 'earn_withdraw'],
  ...['search_agents', 'get_payment_requirements', 'submit_payment'],
  ...[
    'browse_agents',
    'featured_agents',
    'platform_stats',
    'activity_feed',
    'get_market_data',
    'list_models',
  ],
].map((name) => `market_${name}`)

const asText = (): string => `${JSON.stringify(toolList(), null, 2)}\n`

describe('toolList', () => {
  test('equals the snapshot; update it with `vitest -u`', async () => {
    await expect(asText()).toMatchFileSnapshot('./tools.snap.json')
  })

  test('is deterministic', () => {
    expect(asText()).toBe(asText())
  })

  test('has unique names', () => {
    expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length)
  })

  test.each(toolList())('$name: input and output are object schemas without references', (tool) => {
    expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false })
    if ('outputSchema' in tool) expect(tool.outputSchema).toMatchObject({ type: 'object' })
    expect(JSON.stringify(tool)).not.toMatch(/"\$(ref|defs|schema)"/)
  })

  test.each(served)('$name: readOnlyHint is true exactly when its scope is for reads', (tool) => {
    expect(tool.annotations.readOnlyHint).toBe(tool.scope === 'market:read')
  })

  test.each(served.filter(({ isPaid }) => isPaid !== true))(
    '$name: its arguments are fields of its operation, or credentials',
    (tool) => {
      const given = Object.fromEntries(Object.keys(tool.input.shape).map((name) => [name, 'x']))
      const { wallet, wallet_sig, wallet_sig_ts, wallet_chain, ...rest } = tool.inputOf(given)
      expect(Object.keys((tool.operation.input as z.ZodObject).shape)).toEqual(
        expect.arrayContaining(Object.keys(rest)),
      )
    },
  )

  test('has the 39 names of the specification, in its order', () => {
    expect(NAMES).toHaveLength(39)
    expect(toolList().map(({ name }) => name)).toEqual(NAMES)
  })
})

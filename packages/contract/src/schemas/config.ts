import { z } from 'zod'
import { named } from '../define.ts'
import { NetworkName, UsdText } from './money.ts'

const Confirmations = z.object({
  from_usd: UsdText.describe('The rule counts from this amount on, until the next rule'),
  until: z
    .enum(['blocks', 'confirmed', 'final'])
    .describe('`blocks`: after `blocks` blocks. `confirmed` (Solana) and `final`: when the chain says so'),
  blocks: z.int().nullable().describe('Null unless `until` is `blocks`'),
})

const PublicNetwork = named(
  'PublicNetwork',
  z.object({
    network: NetworkName,
    kind: z.enum(['solana', 'evm']),
    is_test: z.boolean().describe('Whether the USDC of this network has no value'),
    chain_id: z.int().nullable().describe('The EIP-155 chain id; null on Solana'),
    caip2: z.string().describe('The name in x402 version 2'),
    usdc: z.string().describe('The address of the token'),
    usdc_decimals: z.int(),
    explorer_transaction_url: z
      .string()
      .nullable()
      .describe('Replace `{hash}` by a transaction hash; null without an explorer'),
    explorer_address_url: z.string().nullable().describe('Replace `{address}` by an address'),
    public_rpc_url: z
      .string()
      .nullable()
      .describe('A node that everyone may call: a wallet adds an unknown network with it; null without one'),
    coin: z.string().describe('What gas is paid in, such as ETH'),
    min_payout_usd: UsdText.describe(
      'Less is not sent: smaller refunds are rejected, and smaller payouts are held',
    ),
    confirmations: z
      .array(Confirmations)
      .describe('When a payment counts, by its amount. Lowest amount first'),
  }),
)

export const PublicConfig = named(
  'PublicConfig',
  z.object({
    networks: z.array(PublicNetwork).describe('The configured networks'),
    fees: z.object({
      order_bps: z.int().describe('Part of the price of an order, in 1/10,000. The agent gets the rest'),
      x402_bps: z.int().describe('Added to the price of a purchase by x402. The agent gets the whole price'),
      bounty_bps: z.int().describe('Added to the budget of a bounty. The agent gets the whole budget'),
      registration_usd: UsdText.describe('A registration that is paid with the request'),
    }),
    min_price_usd: UsdText.describe('The lowest price of a service and of a quote'),
    identity_provider: z.object({
      issuer: z.string().describe('Its OpenID configuration is below `/.well-known/openid-configuration`'),
      audience: z.string().describe('For whom access tokens must be issued'),
      client_ids: z.object({
        web: z.string().nullable().describe('Sign-in with a browser; null when it is off'),
        cli: z.string().nullable().describe('`market login`, by the device flow; null when it is off'),
      }),
      scopes: z.array(z.string()).describe('The scopes of a sign-in'),
    }),
    files_url: z.string().nullable().describe('The origin of uploaded files; null when there are none'),
    stopped: z
      .object({
        writes: z.boolean().describe('The marketplace is read-only'),
        intake: z.boolean().describe('No registrations, orders and bounties are accepted'),
        payouts: z.array(NetworkName).describe('Networks whose payouts wait'),
      })
      .describe('What operators have switched off now'),
  }),
)

import { z } from 'zod'
import { named, operation } from '../define.ts'
import { Instant } from '../schemas/common.ts'

const Network = z.enum(['solana-mainnet', 'base-mainnet', 'alt-mainnet'])
const Usd = z.string().describe('Decimal string, 2 to 6 decimals')
const Micros = z.string().regex(/^\d+$/).describe('Millionths of a USDC, decimal')
const Hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256, hex')

const Standing = named(
  'Standing',
  z.object({
    network: Network,
    treasury: z.string().describe('The address that holds the money: look for yourself'),
    checked_at: Instant,
    assets_usd: Usd.describe('USDC of the treasury in the newest block'),
    assets_final_usd: Usd.describe('The same in the newest block that stays'),
    liabilities_usd: Usd.describe(
      'Owed to others: paid and not yet earned, on its way out, paid too much, unmatched',
    ),
    platform_usd: Usd.describe('The platform’s own fees, held beside them'),
    in_flight_usd: Usd.describe(
      'Of the liabilities: signed to leave, so that it may have left the assets already',
    ),
    shortfall_usd: Usd.describe('What is certainly missing of liabilities and fees'),
    solvent: z.boolean().describe('Whether nothing is missing'),
    proof: z
      .object({
        snapshot_id: z.string(),
        checked_at: Instant,
        root: Hash.describe('Of the tree over every liability'),
        leaves: z.int(),
        liabilities_usd: Usd.describe('The sum of the leaves'),
      })
      .nullable()
      .describe('The newest look that wrote down every liability; null before the first'),
  }),
)

const Proof = named(
  'LiabilityProof',
  z.object({
    network: Network,
    snapshot_id: z.string(),
    checked_at: Instant,
    root: Hash,
    total_usd: Usd.describe('All that was owed on the network'),
    leaf: z.object({
      account: z.string().describe('What the money waits for'),
      holder: z.string().describe('Your wallet; lower case for EVM'),
      amount_usd: Usd,
      micros: Micros,
      salt: z.string().describe('16 random bytes, hex'),
    }),
    path: z
      .array(z.object({ side: z.enum(['left', 'right']), hash: Hash, sum: Micros }))
      .describe('What stands beside the way from the leaf up to the root'),
  }),
)

export const getSolvency = operation({
  id: 'getSolvency',
  group: 'Solvency',
  method: 'GET',
  path: '/api/solvency',
  summary: 'Read what the treasuries hold and what is owed',
  description:
    'One entry per network, of its newest look; a look is made every 30 seconds and a proof every 10 minutes. A network that was never looked at is left out.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.array(Standing),
})

export const getSolvencyProof = operation({
  id: 'getSolvencyProof',
  group: 'Solvency',
  method: 'GET',
  path: '/api/solvency/proof',
  summary: 'Prove that what is owed to you is counted',
  description:
    'Of the newest proof of each network, the liabilities to your wallets, largest first. An agent proves for its owner’s wallet, and of its payout addresses what is being paid out to them. Check with the code in the documentation that each leads to the published root.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject({ limit: z.int().min(1).max(100).default(20).describe('How many to return') }),
  output: z.array(Proof),
  beside: z.object({ omitted: z.int().describe('How many smaller ones there are beyond the limit') }),
})

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

const NetworkSolvency = named(
  'NetworkSolvency',
  z.object({
    network: Network,
    treasury: z.string().describe('Address of the treasury on this network'),
    checked_at: Instant,
    assets_usd: Usd.describe('USDC in the treasury as of the newest block'),
    assets_final_usd: Usd.describe('USDC in the treasury as of the newest final block'),
    liabilities_usd: Usd.describe('Owed to users: escrow, pending payouts, surplus and unmatched transfers'),
    platform_usd: Usd.describe('Fees of the platform that the treasury holds too'),
    in_flight_usd: Usd.describe(
      'The part of the liabilities that is signed as payouts and may have left the treasury already',
    ),
    shortfall_usd: Usd.describe('The amount that is certainly missing to cover liabilities and fees'),
    solvent: z.boolean().describe('Whether `shortfall_usd` is zero'),
    proof: z
      .object({
        snapshot_id: z.string(),
        checked_at: Instant,
        root: Hash.describe('Root of the Merkle tree over every liability'),
        leaves: z.int(),
        liabilities_usd: Usd.describe('The sum of the leaves'),
      })
      .nullable()
      .describe('The newest snapshot with a proof; null before the first'),
  }),
)

const Proof = named(
  'LiabilityProof',
  z.object({
    network: Network,
    snapshot_id: z.string(),
    checked_at: Instant,
    root: Hash,
    total_usd: Usd.describe('Sum of all liabilities on the network'),
    leaf: z.object({
      account: z.string().describe('Ledger account of the liability'),
      holder: z.string().describe('Your wallet; lower case for EVM'),
      amount_usd: Usd,
      micros: Micros,
      salt: z.string().describe('16 random bytes, hex'),
    }),
    path: z
      .array(z.object({ side: z.enum(['left', 'right']), hash: Hash, sum: Micros }))
      .describe('Sibling nodes from the leaf to the root'),
  }),
)

export const getSolvency = operation({
  id: 'getSolvency',
  group: 'Solvency',
  method: 'GET',
  path: '/api/solvency',
  summary: 'Get the treasury balances and liabilities',
  description:
    'The newest snapshot of each network. A snapshot is taken every 30 seconds, a proof every 10 minutes. Networks without a snapshot are left out.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.array(NetworkSolvency),
})

export const getSolvencyProof = operation({
  id: 'getSolvencyProof',
  group: 'Solvency',
  method: 'GET',
  path: '/api/solvency/proof',
  summary: 'Get proofs of what is owed to you',
  description:
    'The liabilities to your wallets in the newest proof of each network, largest first. For an agent: the liabilities to its owner’s wallet, and pending payouts to its payout addresses. Check with the code in the documentation that each proof results in the published root.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject({ limit: z.int().min(1).max(100).default(20).describe('How many to return') }),
  output: z.array(Proof),
  beside: z.object({ omitted: z.int().describe('Number of smaller liabilities beyond the limit') }),
})

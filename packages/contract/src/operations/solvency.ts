import { z } from 'zod'
import { named, operation } from '../define.ts'
import { Instant, NextCursor, pageFields } from '../schemas/common.ts'

const Network = z.enum(['solana-mainnet', 'base-mainnet', 'alt-mainnet'])
const Usd = z.string().describe('Decimal string, 2 to 6 decimals')
const Micros = z.string().regex(/^\d+$/).describe('Millionths of a USDC, decimal')
const Hash = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256, hex')

const Digits = z.string().regex(/^\d+$/)
const Shares = z.string().regex(/^\d+\.\d{12}$/)

const SnapshotId = z.string().regex(/^rsv_[0-9]{1,15}_[0-9a-z]{17}$/, 'must be a snapshot id: rsv_…')

const PoolHolding = z.object({
  key: z.string(),
  vault: z.string(),
  wallet: z.string().describe('The wallet that holds the shares of the vault'),
  vault_shares: Digits.describe('Shares of the vault that belong to the pool, in its smallest units'),
  shares: Shares.describe('Shares of the pool in positions'),
  queued_shares: Shares.describe('Shares of the pool in withdrawals that the vault has not paid for'),
  value_usd: Usd.nullable().describe('What the vault would pay for both, by a simulation of two providers'),
  read_at: Instant.nullable().describe('When the vault was read'),
})

const NetworkSolvency = named(
  'NetworkSolvency',
  z.object({
    network: Network,
    treasury: z.string().describe('Address of the treasury on this network'),
    cold: z
      .object({
        address: z.string(),
        assets_usd: Usd.describe('USDC at this address as of the newest block'),
      })
      .nullable()
      .describe(
        'The address where the rest of the assets is kept, whose key is on no server; null without one',
      ),
    checked_at: Instant,
    assets_usd: Usd.describe('USDC in the treasury as of the newest block, and at the cold address'),
    assets_final_usd: Usd.describe('The same as of the newest final block'),
    venues_usd: Usd.describe(
      'What has left the treasury on its way to venues of Earn and is still owed to depositors. It is no part of `assets_usd`',
    ),
    liabilities_usd: Usd.describe(
      'Owed to users in USDC: escrow, pending payouts, surplus, unmatched transfers and what venues paid for withdrawals from Earn',
    ),
    earn_usd: Usd.describe('The part of the liabilities that venues paid for withdrawals from Earn'),
    earn: z
      .array(PoolHolding)
      .describe('The pools of Earn: in shares, which are no liability. Their value can fall'),
    platform_usd: Usd.describe('Fees of the platform that the treasury holds too'),
    in_flight_usd: Usd.describe(
      'The part of the liabilities that is signed as payouts and may have left the treasury already',
    ),
    in_flight: z
      .array(
        z.object({
          reference: z
            .string()
            .describe(
              'Solana: the signature of the payout’s transaction, with `.index` from its second payment on. EVM: the nonce of its EIP-3009 authorization (0x and 64 hex digits), which the token’s `AuthorizationUsed` event shows before the transfer',
            ),
          replaces: z
            .array(z.string())
            .describe(
              'Solana: earlier transactions of the same payout; only one of all can be executed. EVM: empty, because a nonce is used once',
            ),
          amount_usd: Usd,
        }),
      )
      .describe('The payouts of `in_flight_usd`, largest first, at most 100'),
    in_flight_count: z.int().describe('The number of all such payouts'),
    unfinal_usd: Usd.describe(
      'The part of the liabilities from payments that a chain reorganization can still remove. It cannot be paid out and is no part of a shortfall',
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
    agent_wallets: z
      .object({
        snapshot_id: SnapshotId,
        checked_at: Instant,
        root: Hash.describe('Root of the Merkle tree over these wallets'),
        count: z.int().describe('Number of server wallets that hold USDC'),
        total_usd: Usd.describe('What they hold, beside the treasury'),
      })
      .nullable()
      .describe('Server wallets of agents in the day’s snapshot; null on networks without such wallets'),
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
      holder: z
        .string()
        .describe('Your wallet (lower case for EVM) or agent id; empty when the holder is unknown'),
      amount_usd: Usd,
      micros: Micros,
      salt: z.string().describe('16 random bytes, hex'),
    }),
    path: z
      .array(z.object({ side: z.enum(['left', 'right']), hash: Hash, sum: Micros }))
      .describe('Sibling nodes from the leaf to the root'),
  }),
)

const tree = {
  root: Hash,
  total_usd: Usd,
  total_micros: Micros.describe('The same in millionths of a USDC, as it is hashed'),
}

const Anchor = named(
  'ReserveAnchor',
  z.object({
    day: z.iso.date().describe('UTC day'),
    text: z
      .string()
      .describe('The text that is published: `market.reserves.v1 <day> <SHA-256 over the trees>`'),
    networks: z.array(
      z.object({
        network: Network,
        snapshot_id: SnapshotId.describe('The day’s snapshot; pass it to `GET /api/solvency/proof`'),
        ...tree,
        agent_wallets: z.object(tree).nullable().describe('The tree of the agents’ server wallets'),
      }),
    ),
    signatures: z
      .array(
        z.object({
          network: Network,
          treasury: z.string().describe('The treasury of the day’s snapshot, whose key signed'),
          signature: z.string().describe('65 bytes, hex: EIP-191 (`personal_sign`) over exactly `text`'),
        }),
      )
      .describe('One per EVM treasury; a treasury that has not signed yet is missing'),
    anchored: z
      .object({
        network: Network,
        account: z.string().describe('The account that signed: the treasury of that network'),
        signature: z.string().describe('Signature of the transaction whose memo is `text`'),
        final_at: Instant,
      })
      .nullable()
      .describe('The final transaction; null before, and while no Solana treasury is configured'),
  }),
)

export const listAnchors = operation({
  id: 'listAnchors',
  group: 'Solvency',
  position: 30,
  method: 'GET',
  path: '/api/solvency/anchors',
  summary: 'List the anchored roots of each day',
  description:
    'Newest first. Each day the roots of all networks are published in one memo on Solana, so that everyone can check that all users get the same roots.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({ ...pageFields }),
  output: z.array(Anchor),
  beside: NextCursor,
})

export const getSolvency = operation({
  id: 'getSolvency',
  group: 'Solvency',
  position: 10,
  method: 'GET',
  path: '/api/solvency',
  summary: 'Get the treasury balances and liabilities',
  description:
    'The newest snapshot of each network. A snapshot is taken every 30 seconds, a proof every 10 minutes. Networks without a snapshot are left out.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({}),
  output: z.array(NetworkSolvency),
})

export const getSolvencyHistory = operation({
  id: 'getSolvencyHistory',
  group: 'Solvency',
  position: 15,
  method: 'GET',
  path: '/api/solvency/history',
  summary: 'List what was held and owed on each day',
  description: 'The snapshot of each day and network that is anchored too, newest first.',
  callers: ['anonymous'],
  limit: 'read',
  cacheSeconds: 1,
  input: z.strictObject({
    days: z.int().min(1).max(366).default(90).describe('How many days to return, the newest ones'),
  }),
  output: z.array(
    z.object({
      network: Network,
      day: z.iso.date().describe('UTC day'),
      checked_at: Instant,
      assets_usd: Usd.describe('USDC in the treasury and at the cold address'),
      venues_usd: Usd.describe('What was on its way to venues of Earn. It is no part of `assets_usd`'),
      liabilities_usd: Usd.describe('Owed to users'),
    }),
  ),
})

export const getSolvencyProof = operation({
  id: 'getSolvencyProof',
  group: 'Solvency',
  position: 20,
  method: 'GET',
  path: '/api/solvency/proof',
  summary: 'Get proofs of what is owed to you',
  description:
    'The liabilities to your wallets in the newest proof of each network, or in one snapshot of the last 90 days; largest first. For an agent: the liabilities to its owner’s wallet, and pending payouts to it. With `account`, also a liability whose payer is unknown. Check with the code in the documentation that each proof results in the published root.',
  callers: ['wallet', 'user', 'agent'],
  limit: 'read',
  input: z.strictObject({
    limit: z.int().min(1).max(100).default(20).describe('How many to return'),
    snapshot_id: SnapshotId.optional().describe('A snapshot of `GET /api/solvency/anchors`'),
    account: z
      .string()
      .regex(
        /^(escrow|payable|surplus|suspense|withdrawal|wallet):(solana|base|alt)-mainnet:[\x21-\x7e]{1,100}$/,
        'must be a ledger account, such as escrow:base-mainnet:order:<order id>',
      )
      .optional()
      .describe('Only this account: yours, or one without a holder'),
  }),
  output: z.array(Proof),
  beside: z.object({
    omitted: z.int().describe('Number of smaller liabilities beyond the limit'),
    earn: z
      .array(
        z.object({
          key: z.string(),
          shares: Shares.describe('Of your positions'),
          queued_shares: Shares.describe('Of your withdrawals that the vault has not paid for'),
          value_usd: Usd.describe('What both are worth at the last reading'),
        }),
      )
      .describe(
        'Your shares of the pools of Earn. `earn` of GET /api/solvency shows what is behind all shares',
      ),
  }),
  errors: { 404: ['not_found'] },
})

import { z } from 'zod'
import { described } from './described.ts'
import { address, commonSettings, secretHex, secretHexList, wholeNumber } from './environment.ts'
import { chainSettings, feeAddressSettings, hotMaxSettings, money } from './networks.ts'
import { storageSettings } from './storage.ts'
import { walletSealPrivateKeys } from './vault.ts'

const kmsKey = z.string().min(1).max(2048).optional()

const treasuryKey = described(
  secretHex,
  '32 bytes in hex: the private key, on Solana the seed. For development and small balances',
  { secret: true },
)
const treasuryKmsKey = described(
  kmsKey,
  'instead of it: id, ARN or alias of a KMS key (secp256k1; Ed25519 for Solana)',
)
const payoutGasKeys = described(
  secretHexList,
  "one or more keys, 32 bytes in hex, separated by commas: the accounts that send payouts. Each can move only its own coin: keep a day's gas on it. They must be no other account of the platform: not `<NETWORK>_GAS_ACCOUNT`, a treasury, a venue wallet or a cold address. The two networks may have the same keys",
  { secret: true, default: 'required with the treasury key' },
)
const venueKey = described(
  secretHex,
  'the key of the venue wallet, 32 bytes in hex. Keep coin for gas on the wallet',
  { secret: true, default: 'required for markets of the network' },
)
const venueKmsKey = described(kmsKey, 'instead of it: id, ARN or alias of a KMS key (secp256k1)')
const gasBudget = described(
  wholeNumber(1, 1_000_000_000_000_000).default(50_000_000),
  "the same in gwei of the network's coin. Raise it for a coin that is worth less than ETH",
)
const KMS = 'of those keys; credentials come from the machine (`AWS_…`)'
const SCREENING_URL =
  'a service that is asked with `POST {network, addresses}` and responds `{listed: […]}`; the token is sent as a bearer token. While it does not respond, payouts wait'

/** Keys that move money, and the limits of payouts. The worker pays out only on networks that have a treasury key. */
export const payoutOnlySettings = {
  SOLANA_TREASURY_KEY: treasuryKey,
  BASE_TREASURY_KEY: treasuryKey,
  ALT_TREASURY_KEY: treasuryKey,
  SOLANA_TREASURY_KMS_KEY: treasuryKmsKey,
  BASE_TREASURY_KMS_KEY: treasuryKmsKey,
  ALT_TREASURY_KMS_KEY: treasuryKmsKey,
  BASE_PAYOUT_GAS_KEYS: payoutGasKeys,
  ALT_PAYOUT_GAS_KEYS: payoutGasKeys,
  BASE_VENUE_KEY: venueKey,
  ALT_VENUE_KEY: venueKey,
  BASE_VENUE_KMS_KEY: venueKmsKey,
  ALT_VENUE_KMS_KEY: venueKmsKey,
  KMS_REGION: described(z.string().min(1).optional(), KMS, { default: 'required for KMS keys' }),
  KMS_ENDPOINT: described(z.url().optional(), KMS, { default: "the region's" }),
  SOLANA_COST_CAP: described(
    wholeNumber(5_000, 1_000_000_000).default(5_000_000),
    'the maximum cost of one payout in lamports, including the rent of a new account (2 039 280)',
  ),
  SOLANA_ACCOUNT_MINIMUM_USDC: described(
    money('5'),
    'the treasury opens the USDC account of an agent, once, when its waiting earnings reach this',
  ),
  SOLANA_GAS_BUDGET: described(
    wholeNumber(5_000, 1_000_000_000_000).default(500_000_000),
    'lamports that payouts may cost in 24 hours, including rent; above it payouts are held',
  ),
  BASE_GAS_BUDGET_GWEI: gasBudget,
  ALT_GAS_BUDGET_GWEI: gasBudget,
  PAYOUT_CAP_USDC: described(money('1000'), 'a larger payout or refund is held until it is approved'),
  PAYOUT_PAYEE_DAY_CAP_USDC: described(
    money('2500'),
    'per payee (address or agent) and network in 24 hours; payouts above it are held',
  ),
  PAYOUT_DAY_CAP_USDC: described(money('10000'), 'per network in 24 hours; payouts above it are held'),
}

/** What the server wallet of one agent may send. */
export const agentWalletSettings = {
  WALLET_DAY_CAP_LAMPORTS: described(
    wholeNumber(0, 1_000_000_000_000_000).default(10_000_000_000),
    'the most that the wallet of one agent may send in 24 hours, in lamports; 0 stops sends of SOL',
  ),
  WALLET_DAY_CAP_USDC: described(money('2500'), 'the same for USDC'),
}

const screeningSettings = {
  SCREENING_FILE: described(
    z.string().min(1).optional(),
    'a file with one address per line, comments after `#`, read again when it changes. A payout whose payee, or whose payer of the money, is in it is held',
  ),
  SCREENING_URL: described(z.url().optional(), SCREENING_URL),
  SCREENING_TOKEN: described(z.string().min(1).optional(), 'the token for that service', { secret: true }),
}

const SERVES = '`/healthz`, `/readyz`, `/metrics`'

/** What only the worker reads, besides payouts and wallets of agents. */
export const workerOnlySettings = {
  WALLET_SEAL_PRIVATE_KEYS: walletSealPrivateKeys,
  BASE_URL: described(
    address,
    'as for the api. Owners of agents sign it, and the worker verifies their signatures for sends and exports itself',
  ),
  ...screeningSettings,
  /** High, because a webhook job mostly waits for the endpoint. */
  JOB_CONCURRENCY: described(wholeNumber(1, 1_000).default(100), 'jobs at once'),
  DATABASE_POOL: described(wholeNumber(3, 100).default(20), 'connections, for jobs and for the engine each'),
  HOST: described(z.string().default('127.0.0.1'), SERVES),
  PORT: described(wholeNumber(0, 65_535).default(3001), SERVES),
}

export const workerSettings = {
  ...commonSettings,
  ...chainSettings,
  ...feeAddressSettings,
  ...hotMaxSettings,
  ...storageSettings,
  ...workerOnlySettings,
  ...payoutOnlySettings,
  ...agentWalletSettings,
}

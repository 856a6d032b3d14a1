import { apiOnlySettings } from '../packages/platform/src/settings/api.ts'
import type { Settings } from '../packages/platform/src/settings/describe.ts'
import { commonSettings, developmentSettings } from '../packages/platform/src/settings/environment.ts'
import { explorerSettings } from '../packages/platform/src/settings/explorers.ts'
import {
  chainSettings,
  feeAddressSettings,
  hotMaxSettings,
  treasurySettings,
} from '../packages/platform/src/settings/networks.ts'
import { storageSettings } from '../packages/platform/src/settings/storage.ts'
import { venueSettings } from '../packages/platform/src/settings/venues.ts'
import {
  agentWalletSettings,
  payoutOnlySettings,
  workerOnlySettings,
} from '../packages/platform/src/settings/worker.ts'

interface Section {
  /** As in the markers of the page. */
  readonly name: string
  readonly title: string
  readonly settings: Settings
  /** For settings that have another meaning or default in the other program. */
  readonly program?: 'api' | 'worker'
  readonly isDevelopment?: true
}

const without = (settings: Settings, ...others: readonly Settings[]): Settings =>
  Object.fromEntries(Object.entries(settings).filter(([name]) => others.every((other) => !(name in other))))

const limits = { ...feeAddressSettings, ...hotMaxSettings }

/** The tables of the configuration page and the parts of the example files, in their order. */
export const SECTIONS: readonly Section[] = [
  { name: 'both', title: 'Both programs', settings: without(commonSettings, developmentSettings) },
  {
    name: 'development',
    title: 'Development',
    settings: developmentSettings,
    isDevelopment: true,
  },
  { name: 'api', title: 'Api', settings: apiOnlySettings, program: 'api' },
  { name: 'worker', title: 'Worker', settings: workerOnlySettings, program: 'worker' },
  { name: 'files', title: 'Files', settings: storageSettings },
  {
    name: 'chains',
    title: 'Networks',
    settings: { ...without(chainSettings, developmentSettings, venueSettings), ...limits },
  },
  { name: 'explorers', title: 'Explorers', settings: explorerSettings, program: 'api' },
  {
    name: 'wallets',
    title: 'Wallets of the platform',
    settings: without(treasurySettings, limits),
    program: 'api',
  },
  { name: 'venues', title: 'Markets to earn in', settings: venueSettings },
  { name: 'payouts', title: 'Payouts', settings: payoutOnlySettings, program: 'worker' },
  { name: 'agent-wallets', title: 'Wallets of agents', settings: agentWalletSettings, program: 'worker' },
]

const CA = '/run/certificates/ca.crt'
const STORAGE = {
  S3_BUCKET: 'market',
  S3_ENDPOINT: 'https://s3:7070',
  S3_ACCESS_KEY_ID: '',
  S3_SECRET_ACCESS_KEY: '',
}

/** Values for `deploy/compose.yaml`. An empty one is for the operator to fill. */
export const EXAMPLES: Readonly<Record<'api' | 'worker', Readonly<Record<string, string>>>> = {
  api: {
    DATABASE_URL: `postgres://market_api:<password>@pgbouncer:6432/market?sslmode=verify-full&sslrootcert=${CA}`,
    REDIS_URL: 'rediss://redis:6379',
    BASE_URL: 'https://market.example',
    APP_URL: 'https://app.market.example',
    FILES_URL: 'https://files.market.example',
    PAGES_URL: 'https://app.market.example',
    TRUSTED_PROXIES: '172.31.250.0/29',
    INTERNAL_HOST: '0.0.0.0',
    INTERNAL_PORT: '3003',
    IDP_ISSUER: 'https://idp.example',
    IDP_AUDIENCE: 'https://market.example/api',
    ...STORAGE,
  },
  worker: {
    DATABASE_URL: `postgres://market_worker:<password>@postgres:5432/market?sslmode=verify-full&sslrootcert=${CA}`,
    BASE_URL: 'https://market.example',
    ...STORAGE,
  },
}

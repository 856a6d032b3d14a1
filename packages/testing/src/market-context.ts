import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import type { Actor, Context } from '@market/core/context'
import type { ObjectStore } from '@market/core/ports/object-store'
import type { SeedOpener } from '@market/core/ports/vault'
import { type Db, transact } from '@market/database/transact'
import { unavailable } from '@market/kernel/api-error'
import { MINUTE, SECOND } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { guardedOutbound } from '@market/platform/outbound/guarded-outbound'
import { noStorage } from '@market/platform/storage/s3'
import { type TestClock, testClock } from './clock.ts'
import { type TestKeys, testKeys } from './keys.ts'

export interface MarketContextSettings {
  readonly db: Db
  readonly clock?: TestClock
  readonly actor?: Actor
  readonly keys?: TestKeys
  /** Without it, the storage of files does not respond. */
  readonly objects?: ObjectStore
  /** DNS resolver, such as the one of `startDnsServer`. Without it only IP addresses resolve. */
  readonly resolver?: { resolve(host: string): Promise<readonly string[]> }
}

/** What `GET /api/config` shows in tests that bring their own chains. */
export const NO_NETWORKS = {
  networks: [],
  identityProvider: {
    issuer: 'https://idp.test',
    audience: 'https://market.test/api',
    clientIds: { web: undefined, cli: undefined },
    scopes: ['openid'],
  },
  filesUrl: undefined,
}

/** The platform has no wallets of its own. */
export const NO_OWN_WALLETS = {
  ownWallets: { 'solana-mainnet': [], 'base-mainnet': [], 'alt-mainnet': [] },
  feeAddresses: { 'solana-mainnet': [], 'base-mainnet': [], 'alt-mainnet': [] },
  hotMax: {},
}

export interface MarketContext extends Context {
  readonly clock: TestClock
  readonly seeds: SeedOpener
  /** The same context with another caller. */
  as(actor: Actor): MarketContext
}

const NO_NAMES = { resolve: () => Promise.reject(new Error('this test resolves no names')) }

/** The context of a command, with real services. Commands get profiles as input, so there is no identity provider. */
export function marketContext(settings: MarketContextSettings): MarketContext {
  const { db, clock = testClock(), actor = { kind: 'anonymous' }, keys = testKeys() } = settings
  const away = async () => {
    throw unavailable('this test has no identity provider')
  }
  const app = {
    db,
    clock,
    transact: <T>(work: Parameters<typeof transact<T>>[1]) => transact(db, work),
    ids: idSource(clock),
    vault: keys.vault,
    seeds: keys.seeds,
    identity: { verify: away, fetchProfile: away },
    outbound: guardedOutbound({ resolver: settings.resolver ?? NO_NAMES }),
    signatures: walletSignatures({ domain: 'market.example', uri: 'https://market.example', evmRpcUrls: [] }),
    chains: {},
    facilitators: {},
    objects: settings.objects ?? noStorage(),
    baseUrl: 'https://market.example',
    filesUrl: 'https://files.market.example',
    minPrice: usdc(100_000n),
    generationTimeoutMs: 10 * MINUTE,
    resultWaitMs: 12 * SECOND,
    requestId: 'req_test',
  }
  const as = (who: Actor): MarketContext => ({ ...app, actor: who, as })
  return as(actor)
}

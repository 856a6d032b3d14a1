import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import type { Db } from '@market/database/transact'
import type { AppServices } from '@market/handlers/app-services'
import { createCaches } from '@market/handlers/caches'
import { systemClock } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { usdc } from '@market/kernel/money'
import { redisLimiter } from '@market/platform/redis/limiter'
import { marketContext, NO_NETWORKS, NO_OWN_WALLETS } from '@market/testing/market-context'
import { testReceiptSigner } from '@market/testing/receipts'
import { redisPrefix } from '@market/testing/redis'
import { BASE_URL, FILES_URL, REDIS_URL } from './settings.ts'

/** Limits in Redis, with keys of their own. */
export const newLimiter = (url = REDIS_URL) =>
  redisLimiter({ url, prefix: redisPrefix(), onFallback: () => {} })

/** The services of the handlers for tests that bring their own chains. `startMarket` has those of the api. */
export const testAppServices = (
  db: Db,
  changes: Pick<AppServices, 'limiter' | 'chains' | 'facilitators' | 'onFault'> & Partial<AppServices>,
): AppServices => ({
  ...marketContext({ db }),
  clock: systemClock,
  ids: idSource(systemClock),
  signatures: walletSignatures({ domain: new URL(BASE_URL).host, uri: BASE_URL, evmRpcUrls: [] }),
  baseUrl: BASE_URL,
  filesUrl: FILES_URL,
  receipts: testReceiptSigner(),
  registrationFee: usdc(1_000_000n),
  treasury: NO_OWN_WALLETS,
  shortWaitMax: usdc(25_000_000n),
  earnMarkets: [],
  publicSettings: NO_NETWORKS,
  uploadQuotas: { paid: { files: 1, bytes: 1 }, unpaid: { files: 1, bytes: 1 } },
  hasSolana: false,
  walletMinimumLamports: 30_000_000n,
  tokenSuffix: ' by Market',
  ...createCaches({ sharedReadMs: 0 }),
  operators: { userIds: new Set(), keys: [] },
  onSecurityEvent: () => {},
  ...changes,
})

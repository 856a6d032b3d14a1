import { walletSignatures } from '@market/chains/signatures/wallet-signatures'
import { nameOf } from '@market/core/context'
import { connect } from '@market/database/connect'
import { requireDurableCommits } from '@market/database/ping'
import { readiness } from '@market/database/readiness'
import type { AppServices } from '@market/handlers/app-services'
import { createCaches } from '@market/handlers/caches'
import { eventStreams } from '@market/handlers/event-streams'
import { executor } from '@market/handlers/execute'
import { enforceLimit } from '@market/handlers/limit'
import { oauthService } from '@market/handlers/oauth'
import { fileServing } from '@market/handlers/serve-files'
import { verifyBearer } from '@market/handlers/verify-bearer'
import { catalogDocuments } from '@market/handlers/x402/catalog'
import { buildFilesServer } from '@market/http/files-server'
import { buildInternalServer } from '@market/http/internal-server'
import { createMetrics } from '@market/http/metrics'
import { mountOAuth } from '@market/http/oauth/mount'
import { callerOf } from '@market/http/rest'
import { buildServer } from '@market/http/server'
import { warnOfProxyOnce } from '@market/http/warn-of-proxy'
import { SECOND } from '@market/kernel/clock'
import { idSource } from '@market/kernel/ids'
import { mountMcp } from '@market/mcp/mount'
import { oidcIdentity } from '@market/platform/identity/oidc-identity'
import { oidcLogin } from '@market/platform/identity/oidc-login'
import { redisLimiter } from '@market/platform/redis/limiter'
import { localWindows } from '@market/platform/redis/local-windows'
import { feeAddressesOf, hotMaxOf, providerWarnings, rpcTimeoutMs } from '@market/platform/settings/chains'
import { clockFrom } from '@market/platform/settings/clock-file'
import { outboundFrom } from '@market/platform/settings/outbound'
import { storageFrom } from '@market/platform/settings/storage'
import { vaultFrom } from '@market/platform/settings/vault'
import { createLogger } from '@market/platform/telemetry/logger'
import { startTraces } from '@market/platform/telemetry/traces'
import { receiptSigner } from '@market/platform/vault/receipt-keys'
import { openChains } from './chains.ts'
import { type Config, securityContactOf } from './config.ts'
import { pricesOf, swapsOf } from './prices-and-swaps.ts'
import { publicSettingsOf } from './public-settings.ts'

const IDP_TIMEOUT_MS = 3_000

type LogDestination = NonNullable<Parameters<typeof createLogger>[0]['destination']>

/** Wires the api: logs and database first, then adapters, then the HTTP server. */
export async function buildApp(config: Config, { logTo }: { logTo?: LogDestination } = {}) {
  const log = createLogger({ level: config.LOG_LEVEL, name: 'api', ...(logTo && { destination: logTo }) })
  // Security events are written at every LOG_LEVEL.
  const securityLog = log.child({}, { level: 'info' })
  const metrics = createMetrics()
  const traces = await startTraces({
    service: 'agent-market-api',
    ...(config.TRACES_ENDPOINT !== undefined && { endpoint: config.TRACES_ENDPOINT }),
  })
  const reportFault = (error: unknown, requestId: string) => {
    metrics.faults.inc()
    log.error({ err: error, request_id: requestId }, 'unexpected error')
  }

  const db = connect({
    url: config.DATABASE_URL,
    maxConnections: config.DATABASE_POOL,
    applicationName: 'agent-market-api',
    preparedStatements: config.DATABASE_PREPARED_STATEMENTS ? 'in_transactions' : 'none',
    pipeline: config.DATABASE_PIPELINE,
    timeoutFactor: config.TIMEOUT_FACTOR,
    onLostStatement: (error) =>
      log.warn(
        { reason: error.message },
        'a prepared statement was lost; prepared statements are off from now on',
      ),
    onIdleError: (error) => log.warn({ reason: error.message }, 'a database connection broke'),
  })
  await requireDurableCommits(db)
  for (const warning of providerWarnings(config)) log.warn(warning)
  const limiter = redisLimiter({
    url: config.REDIS_URL,
    prefix: config.REDIS_PREFIX,
    resetUrl: config.LIMITS_RESET_URL,
    onFallback: () => metrics.limiterFallbacks.inc(),
    log,
  })
  const clock = clockFrom(config)

  const networks = await openChains(config, log)
  const app = {
    db,
    clock,
    limiter,
    ids: idSource(clock, config.CELL),
    vault: vaultFrom(config, config.WALLET_SEAL_PUBLIC_KEY),
    identity: oidcIdentity({
      issuer: config.IDP_ISSUER,
      audience: config.IDP_AUDIENCE,
      tokenTypes: config.IDP_TOKEN_TYPES,
      claims: config.IDP_CLAIMS,
      adminClaim: { name: config.ADMIN_CLAIM, value: config.ADMIN_CLAIM_VALUE },
      timeoutMs: IDP_TIMEOUT_MS * config.TIMEOUT_FACTOR,
      onUnreachable: () => metrics.identityFailures.inc(),
    }),
    login: loginOf(config),
    receipts: receiptSigner(config.RECEIPT_KEYS),
    outbound: outboundFrom(config),
    signatures: walletSignatures({
      domain: new URL(config.BASE_URL).host,
      uri: config.BASE_URL,
      evmRpcUrls: config.BASE_RPC_URLS,
      altRpcUrls: config.ALT_RPC_URLS,
      rpcTimeoutMs: rpcTimeoutMs(config),
    }),
    chains: networks.chains,
    facilitators: networks.facilitators,
    objects: storageFrom(config),
    baseUrl: config.BASE_URL,
    filesUrl: config.FILES_URL ?? NO_FILES_URL,
    minPrice: config.MIN_PRICE_USDC,
    /** Present while Solana is: reading wallets needs its nodes. */
    get wallets() {
      return networks.chains['solana-mainnet'] && networks.wallets
    },
    hasSolana: networks.wallets !== undefined,
    walletMinimumLamports: BigInt(config.WALLET_MINIMUM_LAMPORTS),
    tokenSuffix: ` ${config.TOKEN_NAME_SUFFIX}`,
    creatorFeeWallet: config.SOLANA_CREATOR_FEE_WALLET,
    generationTimeoutMs: config.GENERATION_TIMEOUT_SECONDS * SECOND,
    resultWaitMs: config.RESULT_WAIT_MS,
    registrationFee: config.REGISTRATION_FEE_USDC,
    treasury: {
      ownWallets: {
        'solana-mainnet': config.SOLANA_OWN_WALLETS,
        'base-mainnet': config.BASE_OWN_WALLETS,
        'alt-mainnet': config.ALT_OWN_WALLETS,
      },
      feeAddresses: feeAddressesOf(config),
      hotMax: hotMaxOf(config),
    },
    earnMarkets: config.EARN_MARKETS,
    publicSettings: publicSettingsOf(config),
    uploadQuotas: {
      paid: { files: config.UPLOAD_FILES_PER_DAY, bytes: config.UPLOAD_MB_PER_DAY * MEGABYTE },
      unpaid: { files: config.UPLOAD_FILES_PER_DAY, bytes: config.UPLOAD_UNPAID_MB_PER_DAY * MEGABYTE },
    },
    prices: pricesOf(config),
    swaps: swapsOf(config, (error) => log.warn({ err: error }, 'the swap venue failed to submit a swap')),
    shortWaitMax: config.X402_SHORT_WAIT_MAX_USDC,
    ...createCaches({ sharedReadMs: config.SHARED_READ_MS }),
    operators: { userIds: new Set(config.ADMIN_USER_IDS), keys: config.ADMIN_KEY_HASHES },
    onSecurityEvent: (event: object) => securityLog.info(event, 'security event'),
    onFault: (error: unknown, call: { requestId: string }) => reportFault(error, call.requestId),
  }

  const requests = localWindows(MAX_ADDRESSES)
  const rule = requestRule(config.REQUESTS_PER_SECOND)
  let draining = false
  const health = {
    whyNotReady: readiness(db, log),
    isDraining: () => draining,
  }
  const clientLimits = {
    countRequest: (network: string, times: number) =>
      requests.take(network, { ...rule, max: rule.max * times }),
    maxRequests: rule.max,
    maxConnections: config.CONNECTIONS_PER_ADDRESS,
  }
  const onUntrustedProxy = warnOfProxyOnce(log)
  const execute = executor(app)
  const server = buildServer({
    execute,
    streams: eventStreams(app),
    documents: catalogDocuments(app),
    baseUrl: config.BASE_URL,
    appUrl: config.APP_URL,
    pagesUrl: config.PAGES_URL,
    trustedProxies: config.TRUSTED_PROXIES,
    onUntrustedProxy,
    securityContact: securityContactOf(config),
    receiptKeys: app.receipts.keys,
    clientLimits,
    metricsReaders: config.METRICS_READERS,
    maxUploads: config.UPLOADS_AT_ONCE,
    metrics,
    health,
    log,
    onFault: reportFault,
  })

  const oauth = oauthOf(app, config, server)
  mountMcp(server, {
    execute,
    verify: (bearer, asked) => verifyBearer(app, oauth?.readToken, bearer, asked),
    count: (session, messages) => enforceLimit(app, 'mcp', session, messages),
    resourceMetadataUrl: oauth?.resourceMetadataUrl,
    nameOf: ({ actor }) => nameOf(actor),
    baseUrl: config.BASE_URL,
    appUrl: config.APP_URL,
    otherHosts: config.MARKET_ENV === 'development' ? ['localhost', '127.0.0.1'] : [],
    addressOf: (request) => request.client,
    onRequest: (request, operation) => {
      request.operation = operation
    },
    onCaller: (request, { actor }) => callerOf(request)(actor),
  })

  const files =
    config.S3_BUCKET === undefined
      ? undefined
      : buildFilesServer({
          serve: fileServing(app),
          filesUrl: app.filesUrl,
          trustedProxies: config.TRUSTED_PROXIES,
          onUntrustedProxy,
          clientLimits,
          metrics,
          log,
          onFault: reportFault,
        })
  const internal = buildInternalServer({ health, metrics, metricsReaders: config.METRICS_READERS })

  return {
    log,
    /** Rejects when a node is on another chain than configured. */
    broken: networks.broken,
    listen: async () => {
      await limiter.ready()
      // A process that is not ready says why in its log, before anybody asks.
      void health.whyNotReady()
      if (config.INTERNAL_PORT !== undefined)
        await internal.listen({ port: config.INTERNAL_PORT, host: config.INTERNAL_HOST, ...REUSE_PORT })
      const address = await files?.listen({ port: config.FILES_PORT, host: config.HOST, ...REUSE_PORT })
      if (address !== undefined) log.info({ address }, 'serving files')
      return server.listen({ port: config.PORT, host: config.HOST, ...REUSE_PORT })
    },
    /** Reports not ready, waits until the load balancer has noticed, then finishes open requests and closes. */
    stop: async () => {
      draining = true
      networks.stop()
      await new Promise((resolve) => setTimeout(resolve, config.DRAIN_MS))
      await Promise.all([server.close(), files?.close(), internal.close()])
      await Promise.allSettled([limiter.stop(), db.destroy(), traces.stop()])
    },
  }
}

/** The client of the identity provider by which users sign in with a browser, where one is configured. */
function loginOf(config: Config) {
  if (config.IDP_CLIENT_ID === undefined) return undefined
  return oidcLogin({
    issuer: config.IDP_ISSUER,
    clientId: config.IDP_CLIENT_ID,
    clientSecret: config.IDP_CLIENT_SECRET,
    scopes: config.IDP_SCOPES,
    audience: config.IDP_AUDIENCE,
    claims: config.IDP_CLAIMS,
    timeoutMs: IDP_TIMEOUT_MS * config.TIMEOUT_FACTOR,
  })
}

/** The login of browsers and the authorization server for programs. */
function oauthOf(app: AppServices, config: Config, server: ReturnType<typeof buildServer>) {
  const { login } = app
  if (login === undefined) return undefined
  return mountOAuth(server, {
    service: oauthService(app, login),
    appUrl: config.APP_URL,
    resource: `${config.APP_URL}/mcp`,
    ownOrigins: new Set([new URL(config.APP_URL).origin]),
    addressOf: (request) => request.client,
  })
}

/** Without a bucket there are no files, so no address begins with it. */
const NO_FILES_URL = 'https://files.invalid'

const MEGABYTE = 1024 * 1024

/** Addresses whose requests this process counts at a time. */
const MAX_ADDRESSES = 100_000
/** Long enough for bursts: a page that loads sends many requests at once. */
const REQUEST_WINDOW_SECONDS = 10

const requestRule = (perSecond: number) => ({
  name: 'requests',
  max: perSecond * REQUEST_WINDOW_SECONDS,
  windowSeconds: REQUEST_WINDOW_SECONDS,
})

/** Lets two processes listen on one port, so that a new one can replace an old one without downtime. */
const REUSE_PORT: { reusePort?: boolean } = { reusePort: true }

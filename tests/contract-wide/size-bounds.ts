const KB = 1024
const MB = 1024 * KB

/** A page of REST has at most 1 MB of items, and what is around them. */
export const LARGEST_PAGE = 1.1 * MB
/** The whole result of a list tool. */
export const LARGEST_RESULT = 64 * KB
/** What a service adds to `/openapi.json`, including its path. */
export const LARGEST_SERVICE_PATH = 2 * KB

/**
 * What one request can store: the body is at most 256 KB, and normalizing its text to NFC makes it at most three times
 * as long.
 */
const STORED_BODY = 3 * 256 * KB

/** An order: what its buyer sent, with the texts of the two parties. */
const ORDER = STORED_BODY + 32 * KB

/** The order, its newest delivery twice, half a page of deliveries and twice of generations, its steps and acts. */
const ORDER_PAGE = ORDER + 2 * STORED_BODY + 1.5 * MB + 64 * KB

/** In a result a character of JSON takes at most 8 bytes: `<` is written as `\\u003c` and repeated as it is. */
const IN_RESULT = 8

/**
 * The largest response of each operation that returns a list or a record without `next_cursor`, in bytes. What has
 * neither is as large as its fields.
 */
export const LARGEST: Readonly<Record<string, number>> = {
  // Purchases and their requirements: one entry for each of three networks.
  hireService: 16 * KB,
  payService: 16 * KB,
  payServiceV1: 16 * KB,
  createOrder: ORDER,
  actOnOrder: ORDER,
  quoteOrder: ORDER,
  deliverOrder: ORDER,
  getOrder: ORDER_PAGE,
  getPurchasedOrder: ORDER_PAGE,
  // At most 40 deliverables with their hashes, as text and signed.
  getReceipt: 128 * KB,
  getPurchasedReceipt: 128 * KB,
  generate: STORED_BODY,
  generateForPurchase: STORED_BODY,
  answerGeneration: STORED_BODY,
  // Profiles: 50 summaries of services, 6 entries of the portfolio, 5 reviews.
  getAgent: 1.1 * MB,
  registerAgent: 8 * KB,
  getMyAgent: 16 * KB,
  updateMyAgent: 16 * KB,
  updateAgent: 16 * KB,
  linkAgent: 16 * KB,
  confirmPayoutChange: 16 * KB,
  cancelPayoutChange: 16 * KB,
  recoverAgents: 512 * KB,
  createService: 17 * KB,
  getService: 20 * KB,
  getServiceBySlug: 20 * KB,
  updateService: 17 * KB,
  deleteService: 17 * KB,
  createBounty: 25 * KB,
  cancelBounty: 25 * KB,
  // The poster reads at most 101 claims with their agents and 20 transfers.
  getBounty: 768 * KB,
  updatePortfolio: 128 * KB,
  listTrendingServices: 50 * 7 * KB,
  agentLeaderboard: 100 * 4 * KB,
  // 100 items of at most 10 KB each: the description, and the requirements of three networks.
  listDirectory: 1 * MB,
  searchDirectory: 1 * MB,
  // At most 100 mints.
  getMarketData: 32 * KB,
  // The markets of the configuration, and the newest 50 deposits and withdrawals.
  listEarnMarkets: 32 * KB,
  listEarnPools: 32 * KB,
  listEarnPositions: 512 * KB,
  depositToEarn: 8 * KB,
  withdrawFromEarn: 64 * KB,
  getMyBalance: 4 * KB,
  getSolvency: 16 * KB,
  // At most 100 proofs with the hashes of at most 40 levels.
  getSolvencyHistory: 256 * KB,
  getSolvencyProof: 768 * KB,
  signIn: 32 * KB,
  getProfile: 32 * KB,
  // At most 100 tokens, whose amounts can have 255 decimals.
  getFunding: 40 * KB,
  getMe: 32 * KB,
  getOwnedAgent: 16 * KB,
  updateProfile: 32 * KB,
  // Three networks, and settings of the operator.
  getConfig: 16 * KB,
}

/** The same as the result of a tool, which contains the response twice. */
export const largestResult = (operationId: string): number => IN_RESULT * (LARGEST[operationId] ?? 8 * KB)

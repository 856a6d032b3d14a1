import type { OperationId } from '@market/contract/operations'
import { PAYEE } from '../support/agent-wallets.ts'
import { BOUNTY } from '../support/bounties.ts'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { SOL } from '../support/price-source.ts'
import { SERVICE } from '../support/services.ts'
import { CHECKSUMMED } from '../support/treasury.ts'
import type { Principal, World } from './authorization-fixture.ts'

/** One situation: the input, and the response for each principal. */
export interface Row {
  readonly when: string
  readonly input: (world: World) => Readonly<Record<string, unknown>>
  readonly answers: Readonly<Record<Principal, number>>
}

const nothing = () => ({})

const allCallers = (status: number): Row['answers'] => ({
  anonymous: status,
  'owner user': status,
  'other user': status,
  agent: status,
  'other agent': status,
  'owner wallet': status,
  'other wallet': status,
  'admin key': status,
  'admin session': status,
})

/** The default: 401 without a credential, 403 with one of another kind. Rows override it. */
const closed: Row['answers'] = { ...allCallers(403), anonymous: 401 }

const users = (status: number) => ({ 'owner user': status, 'other user': status, 'admin session': status })
const people = users(200)
const wallets = { 'owner wallet': 200, 'other wallet': 200 } as const
const agents = { agent: 200, 'other agent': 200 } as const
const operators = { 'admin key': 200, 'admin session': 200 } as const

const sellers = (status: number) => ({ agent: status, 'owner user': status, 'owner wallet': status })

/** Both parties of an order from the other wallet to the owner's agent. */
const parties = (status: number) => ({
  'other wallet': status,
  agent: status,
  'owner user': status,
  'owner wallet': status,
})

const ofOwner = (world: World) => ({ agent_id: world.agent.id })
const forSellers: Row['answers'] = { ...closed, ...sellers(200) }
const walletsOf = (status: number) => ({ 'owner wallet': status, 'other wallet': status })

/** `me` is the agent of an API key, and for others no id. */
const itself: Row['answers'] = { ...closed, ...agents, ...users(400), ...walletsOf(400) }

/** The expected authorization of every operation. An operator's credential gives no access to a user's own resources. */
export const AUTHORISATION: Readonly<Record<OperationId, readonly Row[]>> = {
  getAuthMessage: [
    {
      when: 'asked about any wallet',
      input: (world) => ({ wallet: world.ownerWallet.address }),
      answers: allCallers(200),
    },
  ],
  uploadFile: [
    {
      when: 'uploading a file',
      input: nothing,
      answers: {
        ...closed,
        agent: 201,
        'other agent': 201,
        'owner wallet': 201,
        'other wallet': 201,
        'owner user': 201,
        'other user': 201,
        'admin session': 201,
      },
    },
  ],
  // Before `signIn`, which unlinks the owner’s X account.
  launchToken: [
    {
      when: 'launching the token of the owner’s agent, whose wallet is empty',
      input: (world) => ({
        agent_id: world.agent.id,
        symbol: 'TOK',
        image_url: 'https://hooks.example/token.png',
      }),
      answers: { ...closed, agent: 402 },
    },
  ],
  // Before `signIn`, which creates the deleted accounts again.
  deleteProfile: [
    {
      when: 'deleting the own account, which has open orders if it is the owner’s',
      input: nothing,
      answers: { ...closed, ...people, 'owner user': 409 },
    },
  ],
  signIn: [{ when: 'signing in', input: nothing, answers: { ...closed, ...people } }],
  getProfile: [{ when: 'reading the own profile', input: nothing, answers: { ...closed, ...people } }],
  updateProfile: [
    { when: 'changing the own profile', input: () => ({ bio: 'Hello' }), answers: { ...closed, ...people } },
  ],
  registerAgent: [
    {
      when: 'registering an agent',
      input: () => ({ name: someName(), description: DESCRIPTION }),
      answers: allCallers(201),
    },
    {
      when: 'naming the owner’s wallet as the owner',
      input: (world) => ({
        name: someName(),
        description: DESCRIPTION,
        owner_wallet: world.ownerWallet.address,
      }),
      answers: {
        ...allCallers(201),
        'other wallet': 400,
        // The wallet did not sign.
        'owner user': 401,
        'other user': 401,
        'admin session': 401,
      },
    },
  ],
  recoverAgents: [
    {
      when: 'asking for the owner’s agent',
      input: (world) => ({ agent_name: world.agent.name }),
      answers: {
        ...closed,
        'owner user': 200,
        'owner wallet': 200,
        'other user': 404,
        'other wallet': 404,
        'admin session': 404,
      },
    },
  ],
  linkAgent: [
    {
      when: 'holding the key of the owner’s agent',
      input: (world) => ({ api_key: world.agent.apiKey }),
      answers: { ...closed, 'owner user': 200, 'other user': 409, 'admin session': 409 },
    },
  ],
  getMyAgent: [{ when: 'reading itself', input: nothing, answers: { ...closed, ...agents } }],
  getMyBalance: [
    { when: 'reading its balance', input: () => ({ agent_id: 'me' }), answers: itself },
    { when: 'reading the balance of the owner’s agent', input: ofOwner, answers: forSellers },
  ],
  listMyPayouts: [
    { when: 'reading its payouts', input: () => ({ agent_id: 'me' }), answers: itself },
    { when: 'reading the payouts of the owner’s agent', input: ofOwner, answers: forSellers },
  ],
  listMyAgents: [
    { when: 'reading the own agents', input: nothing, answers: { ...closed, ...people, ...wallets } },
  ],
  getOwnedAgent: [{ when: 'reading the settings of the owner’s agent', input: ofOwner, answers: forSellers }],
  startSession: [{ when: 'starting a session', input: nothing, answers: { ...closed, ...walletsOf(201) } }],
  endSession: [{ when: 'ending no session', input: nothing, answers: { ...closed, ...people, ...wallets } }],
  getMe: [{ when: 'asking who it is', input: nothing, answers: allCallers(200) }],
  updateMyAgent: [
    {
      when: 'changing itself',
      input: () => ({ description: DESCRIPTION }),
      answers: { ...closed, ...agents },
    },
    {
      when: 'naming an owner wallet that did not sign',
      input: (world) => ({ owner_wallet: world.otherWallet.address }),
      answers: { ...closed, agent: 401, 'other agent': 401 },
    },
  ],
  updateAgent: [
    {
      when: 'changing the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id, description: DESCRIPTION }),
      answers: { ...closed, agent: 200, 'owner user': 200, 'owner wallet': 200 },
    },
    {
      when: 'changing an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id, description: DESCRIPTION }),
      answers: closed,
    },
  ],
  rotateKey: [
    {
      when: 'replacing the API key of the owner’s agent',
      input: (world) => ({ agent_id: world.toRotate.id }),
      answers: { ...closed, 'owner user': 200, 'owner wallet': 200 },
    },
    {
      when: 'replacing the API key of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: closed,
    },
  ],
  confirmPayoutChange: [
    {
      when: 'naming the payout address that the owner’s agent has',
      input: (world) => ({ agent_id: world.toRotate.id, address: CHECKSUMMED }),
      answers: { ...closed, 'owner user': 200, 'owner wallet': 200 },
    },
    {
      when: 'naming an address that is not pending',
      input: (world) => ({ agent_id: world.agent.id, address: CHECKSUMMED }),
      answers: { ...closed, 'owner user': 409, 'owner wallet': 409 },
    },
  ],
  cancelPayoutChange: [
    {
      when: 'cancelling a payout change of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, 'owner user': 200, 'owner wallet': 200 },
    },
  ],
  getFunding: [
    {
      when: 'reading the wallet of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, ...sellers(200) },
    },
    {
      when: 'reading the wallet of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: closed,
    },
  ],
  listWalletOperations: [
    {
      when: 'reading the operations of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, ...sellers(200) },
    },
    {
      when: 'reading the operations of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: closed,
    },
  ],
  setWithdrawAddress: [
    {
      when: 'setting the withdraw address of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id, address: PAYEE }),
      answers: { ...closed, 'owner user': 403, 'owner wallet': 200 },
    },
    {
      when: 'setting the withdraw address of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id, address: PAYEE }),
      answers: closed,
    },
  ],
  cancelWithdrawAddress: [
    {
      when: 'cancelling a withdraw address of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, 'owner user': 200, 'owner wallet': 200 },
    },
  ],
  withdraw: [
    {
      when: 'withdrawing from an empty wallet, or without a withdraw address',
      input: () => ({ asset: 'SOL' }),
      answers: { ...closed, agent: 402, 'other agent': 409 },
    },
  ],
  sendFromWallet: [
    {
      when: 'sending from the empty wallet of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id, chain: 'solana', asset: 'SOL', to: PAYEE }),
      answers: { ...closed, 'owner wallet': 402 },
    },
    {
      when: 'sending from the wallet of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id, chain: 'solana', asset: 'SOL', to: PAYEE }),
      answers: closed,
    },
  ],
  exportKey: [
    {
      when: 'exporting the key of the owner’s agent, while no worker runs',
      input: (world) => ({ agent_id: world.agent.id, public_key: 'A'.repeat(43) }),
      answers: { ...closed, 'owner wallet': 202 },
    },
  ],
  getToken: [
    {
      when: 'reading the token of an agent',
      input: (world) => ({ agent_id: world.agent.slug }),
      answers: allCallers(200),
    },
  ],
  getTokenDocument: [
    {
      when: 'reading the document of a token that the agent’s wallet launched',
      input: (world) => ({ agent_id: world.otherAgent.id }),
      answers: allCallers(200),
    },
  ],
  registerToken: [
    {
      when: 'registering a token as the owner wallet on Solana',
      input: ({ tokenAgent }) => ({
        agent_id: tokenAgent.id,
        token_mint: PAYEE,
        token_name: 'A Token',
        token_symbol: 'TOK',
        token_mode: 'pumpfun',
        token_creator_wallet: tokenAgent.owner.address,
      }),
      answers: { ...closed, 'owner wallet': 201 },
    },
  ],
  mintIdentity: [
    {
      when: 'minting the identity of the owner’s agent, whose wallet is empty',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, agent: 402 },
    },
  ],
  listAgents: [
    { when: 'browsing', input: nothing, answers: allCallers(200) },
    {
      when: 'asking for the agents of the owner’s wallet',
      input: (world) => ({ owner_wallet: world.ownerWallet.address }),
      answers: { ...allCallers(200), 'other wallet': 403 },
    },
  ],
  featuredAgents: [{ when: 'browsing', input: nothing, answers: allCallers(200) }],
  getAgent: [
    {
      when: 'reading a public agent',
      input: (world) => ({ agent_id: world.agent.slug }),
      answers: allCallers(200),
    },
    {
      when: 'reading a hidden agent',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: allCallers(200),
    },
  ],
  agentLeaderboard: [{ when: 'browsing', input: nothing, answers: allCallers(200) }],
  getConfig: [{ when: 'reading settings', input: nothing, answers: allCallers(200) }],
  getPlatformStats: [{ when: 'reading figures', input: nothing, answers: allCallers(200) }],
  listActivity: [{ when: 'browsing', input: nothing, answers: allCallers(200) }],
  getMarketData: [
    {
      when: 'asking for a price',
      input: () => ({ mints: ['So11111111111111111111111111111111111111112'] }),
      answers: allCallers(200),
    },
  ],
  listModels: [{ when: 'browsing', input: nothing, answers: allCallers(200) }],
  createService: [
    {
      when: 'offering a service of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id, ...SERVICE }),
      answers: { ...closed, agent: 201, 'owner user': 201, 'owner wallet': 201 },
    },
    {
      when: 'creating a service of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id, ...SERVICE }),
      answers: closed,
    },
  ],
  listAgentServices: [
    {
      when: 'reading what a public agent offers',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: allCallers(200),
    },
    {
      when: 'reading what a hidden agent offers',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: allCallers(200),
    },
  ],
  browseServices: [{ when: 'browsing', input: nothing, answers: allCallers(200) }],
  hireService: [
    {
      when: 'without a payment',
      input: (world) => ({ service_id: world.service.id }),
      answers: allCallers(402),
    },
  ],
  payService: [
    {
      when: 'without a payment',
      input: (world) => ({ service_id: world.service.id }),
      answers: allCallers(402),
    },
  ],
  payServiceV1: [
    {
      when: 'without a payment',
      input: (world) => ({ service_id: world.service.id }),
      answers: allCallers(402),
    },
  ],
  listDirectory: [{ when: 'listing payable services', input: nothing, answers: allCallers(200) }],
  searchDirectory: [
    { when: 'searching payable services', input: () => ({ query: 'review' }), answers: allCallers(200) },
  ],
  listPayableServices: [{ when: 'listing payable services', input: nothing, answers: allCallers(200) }],
  listTrendingServices: [{ when: 'listing trending services', input: nothing, answers: allCallers(200) }],
  getPurchasedOrder: [
    {
      when: 'reading an order without its access token',
      input: ({ purchasedOrder }) => ({ order_id: purchasedOrder.id, t: 'AAAAAAAAAAAAAAAAAAAAAA' }),
      answers: allCallers(404),
    },
    {
      when: 'reading an order with its access token',
      input: ({ purchasedOrder: { id, accessToken } }) => ({ order_id: id, t: accessToken }),
      answers: allCallers(200),
    },
  ],
  getService: [
    {
      when: 'reading a service of a hidden agent',
      input: (world) => ({ service_id: world.hiddenService.id }),
      answers: allCallers(200),
    },
    {
      when: 'reading a service',
      input: (world) => ({ service_id: world.service.id }),
      answers: allCallers(200),
    },
  ],
  getServiceBySlug: [
    {
      when: 'reading a service of a hidden agent',
      input: (world) => ({
        agent_slug: world.hiddenAgent.slug,
        service_slug: world.hiddenService.slug,
      }),
      answers: allCallers(200),
    },
  ],
  updateService: [
    {
      when: 'changing a service of the owner’s agent',
      input: (world) => ({ service_id: world.service.id, max_revisions: 2 }),
      answers: { ...closed, agent: 200, 'owner user': 200, 'owner wallet': 200 },
    },
    {
      when: 'changing a service of an agent without an owner',
      input: (world) => ({ service_id: world.hiddenService.id, max_revisions: 2 }),
      answers: closed,
    },
  ],
  createOrder: [
    {
      when: 'ordering from the owner’s agent, which the owner may not',
      input: (world) => ({ service_id: world.service.id, brief: 'Review this branch, please.' }),
      answers: {
        ...allCallers(201),
        ...sellers(400),
        anonymous: 402,
        'admin key': 403,
      },
    },
  ],
  createBounty: [
    {
      when: 'posting with the owner’s wallet, which others cannot prove',
      input: (world) => ({ ...BOUNTY, client_wallet: world.ownerWallet.address }),
      answers: { ...allCallers(400), ...sellers(201), anonymous: 401, 'admin key': 403 },
    },
  ],
  listBounties: [{ when: 'browsing', input: nothing, answers: allCallers(200) }],
  listMyBounties: [
    {
      when: 'reading what was posted or claimed',
      input: nothing,
      answers: { ...closed, ...people, ...wallets, ...agents },
    },
  ],
  getBounty: [
    {
      when: 'reading a bounty',
      input: ({ bounties }) => ({ bounty_id: bounties.toAccept.bounty_id }),
      answers: allCallers(200),
    },
    {
      when: 'reading the claims of a bounty that the owner’s agent posted',
      input: ({ bounties }) => ({ bounty_id: bounties.toAccept.bounty_id, include_claims: true }),
      answers: { ...allCallers(404), ...sellers(200) },
    },
  ],
  cancelBounty: [
    {
      when: 'cancelling a bounty that the owner’s agent posted',
      input: ({ bounties }) => ({ bounty_id: bounties.toCancel.pop(), status: 'cancelled' }),
      answers: { ...closed, ...sellers(200) },
    },
  ],
  claimBounty: [
    {
      when: 'claiming the bounty of another poster',
      input: ({ bounties }) => ({ bounty_id: bounties.toClaim }),
      answers: { ...closed, agent: 201, 'other agent': 201 },
    },
    {
      when: 'claiming a bounty that the owner’s agent posted, which no agent of the owner may',
      input: ({ bounties }) => ({ bounty_id: bounties.toAccept.bounty_id }),
      answers: { ...closed, agent: 400, 'other agent': 201 },
    },
  ],
  withdrawClaim: [
    {
      when: 'withdrawing the claim of the owner’s agent',
      input: ({ bounties }) => ({ bounty_id: bounties.claimed }),
      answers: { ...closed, agent: 200, 'other agent': 404 },
    },
  ],
  rejectClaim: [
    {
      when: 'rejecting a claim on a bounty of the owner’s agent',
      input: ({ bounties }) => bounties.toReject,
      answers: { ...closed, ...sellers(200) },
    },
  ],
  acceptClaim: [
    {
      when: 'accepting a claim on a bounty of the owner’s agent, with a wallet that others cannot prove',
      input: ({ bounties, ownerWallet }) => ({ ...bounties.toAccept, client_wallet: ownerWallet.address }),
      answers: { ...allCallers(400), ...sellers(202), anonymous: 401, 'admin key': 403 },
    },
    {
      when: 'accepting it with the other wallet, which did not post the bounty',
      input: ({ bounties, otherWallet }) => ({ ...bounties.toAccept, client_wallet: otherWallet.address }),
      answers: { ...allCallers(400), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  // This market has no swap venue, which only users find out.
  orderSwap: [
    {
      when: 'ordering a swap for any wallet',
      input: () => ({ wallet: SOL, amount_usd: '5.00' }),
      answers: { ...closed, ...users(503) },
    },
  ],
  executeSwap: [
    {
      when: 'executing a swap',
      input: () => ({ order_id: `swp_1700000000000_${'0'.repeat(17)}`, signed_transaction: 'AAAA' }),
      answers: { ...closed, ...users(503) },
    },
  ],
  // This market has no venue either.
  listEarnMarkets: [{ when: 'browsing', input: nothing, answers: allCallers(503) }],
  listEarnPools: [{ when: 'browsing', input: nothing, answers: allCallers(503) }],
  listEarnPositions: [
    {
      when: 'reading the own positions',
      input: nothing,
      answers: { ...closed, ...people, ...wallets, ...agents },
    },
  ],
  depositToEarn: [
    {
      when: 'naming a transfer',
      input: () => ({ amount_usd: '100.00', incoming_tx_hash: `0x${'ab'.repeat(32)}` }),
      answers: { ...allCallers(503), anonymous: 401, 'admin key': 403 },
    },
  ],
  withdrawFromEarn: [
    {
      when: 'withdrawing everything',
      input: () => ({ all: true }),
      answers: { ...allCallers(503), anonymous: 401, 'admin key': 403 },
    },
  ],
  listOrders: [
    {
      when: 'reading what was ordered',
      input: nothing,
      answers: { ...closed, ...people, ...wallets, ...agents },
    },
  ],
  getOrder: [
    {
      when: 'reading an order the other wallet made of the owner’s agent',
      input: (world) => ({ order_id: world.completedOrder.id }),
      answers: { ...allCallers(404), ...parties(200), ...operators, anonymous: 401 },
    },
  ],
  getReceipt: [
    {
      when: 'getting the receipt of an order the other wallet made of the owner’s agent',
      input: ({ orders }) => ({ order_id: orders.paid.id }),
      answers: { ...allCallers(404), ...parties(200), ...operators, anonymous: 401 },
    },
  ],
  getPurchasedReceipt: [
    {
      when: 'getting a receipt without the access token',
      input: ({ purchasedOrder }) => ({ order_id: purchasedOrder.id, t: 'AAAAAAAAAAAAAAAAAAAAAA' }),
      answers: allCallers(404),
    },
    {
      when: 'getting a receipt with the access token',
      input: ({ purchasedOrder: { id, accessToken } }) => ({ order_id: id, t: accessToken }),
      answers: allCallers(200),
    },
  ],
  actOnOrder: [
    {
      when: 'naming again the transfer that paid that order, which is its buyer’s to do',
      input: ({ orders: { paid } }) => ({ order_id: paid.id, action: 'pay', escrow_tx_hash: paid.reference }),
      answers: { ...allCallers(404), ...parties(403), 'other wallet': 200, anonymous: 401, 'admin key': 403 },
    },
    {
      when: 'starting an order that is done',
      input: (world) => ({ order_id: world.completedOrder.id, action: 'start' }),
      answers: { ...allCallers(404), ...sellers(400), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  quoteOrder: [
    {
      when: 'naming a price for an order of the owner’s agent',
      input: (world) => ({ order_id: world.orders.toQuote.pop(), price_usd: '5.00' }),
      answers: { ...allCallers(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  deliverOrder: [
    {
      when: 'delivering an order of the owner’s agent',
      input: (world) => ({ order_id: world.orders.paid.id, deliverable_url: 'https://hooks.example/x' }),
      answers: { ...allCallers(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  retryPayout: [
    {
      when: 'asking again for what the owner’s agent earned',
      input: (world) => ({ order_id: world.orders.earned.id }),
      answers: { ...allCallers(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  listAgentOrders: [
    {
      when: 'reading the orders of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, ...sellers(200) },
    },
    {
      when: 'reading the orders of an agent without an owner',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: closed,
    },
  ],
  resolveDispute: [
    {
      when: 'deciding a dispute',
      input: (world) => ({ order_id: world.orders.disputed.id, outcome: 'refund', note: 'Both were heard.' }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  deleteService: [
    {
      when: 'taking down a service of the owner’s agent',
      input: (world) => ({ service_id: world.service.id }),
      answers: { ...closed, agent: 200, 'owner user': 200, 'owner wallet': 200 },
    },
  ],
  sendMessage: [
    {
      when: 'writing about an order the other wallet made of the owner’s agent',
      input: (world) => ({ order_id: world.completedOrder.id, content: 'Hello' }),
      answers: { ...allCallers(404), ...parties(201), anonymous: 401, 'admin key': 403 },
    },
  ],
  listMessages: [
    {
      when: 'reading the messages of that order',
      input: (world) => ({ order_id: world.completedOrder.id }),
      answers: { ...allCallers(404), ...parties(200), ...operators, anonymous: 401 },
    },
  ],
  generate: [
    {
      when: 'requesting in a workspace of the other wallet, whose buyer alone may',
      input: (world) => ({ order_id: world.workspace.id, prompt: 'A blue square' }),
      answers: {
        ...allCallers(404),
        ...parties(403),
        'other wallet': 202,
        anonymous: 401,
        'admin key': 403,
      },
    },
  ],
  listPurchasedGenerations: [
    {
      when: 'reading a purchased workspace with its access token',
      input: ({ purchasedWorkspace: { id, accessToken } }) => ({ order_id: id, t: accessToken }),
      answers: allCallers(200),
    },
    {
      when: 'reading a purchased workspace without its access token',
      input: ({ purchasedWorkspace: { id } }) => ({ order_id: id, t: 'AAAAAAAAAAAAAAAAAAAAAA' }),
      answers: allCallers(404),
    },
  ],
  generateForPurchase: [
    {
      when: 'requesting in a purchased workspace with its access token',
      input: ({ purchasedWorkspace: { id, accessToken } }) => ({
        order_id: id,
        t: accessToken,
        prompt: 'A blue square',
      }),
      answers: allCallers(202),
    },
    {
      when: 'requesting in a purchased workspace without its access token',
      input: ({ purchasedWorkspace }) => ({
        order_id: purchasedWorkspace.id,
        t: 'AAAAAAAAAAAAAAAAAAAAAA',
        prompt: 'A blue square',
      }),
      answers: allCallers(404),
    },
  ],
  answerGeneration: [
    {
      when: 'answering a request in a workspace of the owner’s agent',
      input: ({ workspace }) => ({
        order_id: workspace.id,
        deliverable_id: workspace.toAnswer.pop(),
        deliverable: { type: 'text', content: 'Blue' },
      }),
      answers: { ...allCallers(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  listGenerations: [
    {
      when: 'reading the generations of that workspace',
      input: (world) => ({ order_id: world.workspace.id }),
      answers: { ...allCallers(404), ...parties(200), ...operators, anonymous: 401 },
    },
  ],
  createReview: [
    {
      when: 'reviewing that order, whose buyer alone may',
      input: (world) => ({ order_id: world.completedOrder.id, rating: 5 }),
      answers: {
        ...allCallers(404),
        ...parties(403),
        'other wallet': 201,
        anonymous: 401,
        'admin key': 403,
      },
    },
  ],
  listPortfolio: [
    {
      when: 'reading the portfolio of a public agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: allCallers(200),
    },
    {
      when: 'reading the portfolio of a hidden agent',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: allCallers(200),
    },
  ],
  updatePortfolio: [
    {
      when: 'hiding an order of the owner’s agent',
      input: (world) => ({
        ...{ agent_id: world.agent.id, action: 'hide' },
        ...{ source_type: 'order', source_id: world.completedOrder.id },
      }),
      answers: { ...closed, ...sellers(200) },
    },
    {
      when: 'hiding an order of another agent',
      input: (world) => ({
        ...{ agent_id: world.hiddenAgent.id, action: 'hide' },
        ...{ source_type: 'order', source_id: world.completedOrder.id },
      }),
      answers: closed,
    },
  ],
  listReviews: [
    {
      when: 'reading what was said of a public agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: allCallers(200),
    },
    {
      when: 'reading what was said of a hidden agent',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: allCallers(200),
    },
  ],
  listEvents: [
    {
      when: 'reading its own events as a seller',
      input: nothing,
      answers: {
        ...closed,
        ...agents,
        'owner user': 400,
        'other user': 400,
        'owner wallet': 400,
        'other wallet': 400,
        'admin session': 400,
      },
    },
    { when: 'reading the events of the owner’s agent', input: ofOwner, answers: forSellers },
    {
      when: 'reading its own events as a buyer',
      input: () => ({ role: 'buyer' }),
      answers: { ...closed, ...people, ...wallets, ...agents },
    },
  ],
  listDeliveries: [
    { when: 'reading its own deliveries', input: () => ({ agent_id: 'me' }), answers: itself },
    { when: 'reading the deliveries of the owner’s agent', input: ofOwner, answers: forSellers },
  ],
  testDelivery: [
    { when: 'trying its own endpoint', input: () => ({ agent_id: 'me' }), answers: itself },
    { when: 'trying the endpoint of the owner’s agent', input: ofOwner, answers: forSellers },
  ],
  listNotifications: [
    { when: 'reading the own notifications', input: nothing, answers: { ...closed, ...people, ...wallets } },
  ],
  markNotifications: [
    { when: 'marking the own notifications', input: nothing, answers: { ...closed, ...people, ...wallets } },
  ],
  getSolvency: [{ when: 'reading the solvency report', input: nothing, answers: allCallers(200) }],
  listAnchors: [{ when: 'reading the anchored roots', input: nothing, answers: allCallers(200) }],
  getSolvencyHistory: [{ when: 'reading the reserves by day', input: nothing, answers: allCallers(200) }],
  getSolvencyProof: [
    {
      when: 'asking what is owed to the own wallets',
      input: nothing,
      answers: { ...closed, ...people, ...wallets, ...agents },
    },
  ],
  listSwitches: [
    {
      when: 'reading the switches',
      input: nothing,
      answers: { ...closed, 'admin key': 200, 'admin session': 200 },
    },
  ],
  turnSwitch: [
    {
      when: 'turning a switch off',
      input: () => ({ name: 'freeze_payouts', on: false, reason: 'all is well' }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  getOverview: [{ when: 'reading what waits', input: nothing, answers: { ...closed, ...operators } }],
  getAuditHead: [
    { when: 'reading the head of the audit log', input: nothing, answers: { ...closed, ...operators } },
  ],
  getTreasury: [
    { when: 'reading how the treasuries stand', input: nothing, answers: { ...closed, ...operators } },
  ],
  listContests: [
    { when: 'reading contested payments', input: nothing, answers: { ...closed, ...operators } },
  ],
  resolveRegistration: [
    {
      when: 'deciding about a contested registration',
      input: (world) => ({
        purchase_id: world.contestedPurchase,
        outcome: 'release',
        note: 'Both were heard.',
      }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  listUnmatched: [
    { when: 'reading what belongs to nothing', input: nothing, answers: { ...closed, ...operators } },
  ],
  listPayouts: [
    { when: 'reading payouts that are not over', input: nothing, answers: { ...closed, ...operators } },
  ],
  listUnexplained: [
    { when: 'reading what left unexplained', input: nothing, answers: { ...closed, ...operators } },
  ],
  claimRefund: [
    {
      when: 'claiming what the owner’s wallet sent',
      input: ({ unmatched }) => ({ unmatched_id: `suspense:base-mainnet:${unmatched.reference}` }),
      answers: { ...closed, 'owner wallet': 200, 'owner user': 200, 'other wallet': 409 },
    },
  ],
  refundTransfer: [
    {
      when: 'refunding an unclaimed transfer',
      input: ({ money }) => ({
        unmatched_id: `suspense:base-mainnet:${money.toRefund.reference}`,
        reason: 'nobody claimed it',
      }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  recognizeTransfer: [
    {
      when: 'proposing to recognize what the platform sent',
      input: ({ money }) => ({
        unmatched_id: `suspense:base-mainnet:${money.toKeep.reference}`,
        reason: 'it is our own',
      }),
      answers: { ...closed, 'admin session': 201 },
    },
  ],
  writeOffTransfer: [
    {
      when: 'writing off a loss',
      input: ({ money }) => ({
        transfer_id: `base-mainnet:${money.toBook.reference}`,
        reason: 'nobody knows it',
      }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  createApproval: [
    {
      when: 'proposing another payee',
      input: ({ money }) => ({
        kind: 'redirect_payout',
        payload: { payout_id: money.toRedirect.id, payee: CHECKSUMMED },
        reason: 'the payee asked for it',
      }),
      answers: { ...closed, 'admin session': 201 },
    },
  ],
  listApprovals: [
    { when: 'reading what waits for approval', input: nothing, answers: { ...closed, ...operators } },
  ],
  approveApproval: [
    {
      when: 'approving what another operator proposed',
      input: ({ money }) => ({ approval_id: money.toApprove }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  rejectApproval: [
    {
      when: 'rejecting what another operator proposed',
      input: ({ money }) => ({ approval_id: money.toReject, reason: 'it is wrong' }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  retryAnyPayout: [
    {
      when: 'trying a failed payout again',
      input: ({ money }) => ({ payout_id: money.failedPayout.id, reason: 'it can be paid now' }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  listCreatorFees: [
    { when: 'reading the fees of tokens', input: nothing, answers: { ...closed, ...operators } },
  ],
  recordCreatorFee: [
    {
      when: 'recording a fee again',
      input: ({ creatorFee: { agentId, sol, sourceTx } }) => ({
        agent_id: agentId,
        amount_sol: sol,
        source_tx: sourceTx,
      }),
      answers: { ...closed, 'admin session': 201 },
    },
  ],
  settleCreatorFee: [
    {
      when: 'settling a fee again',
      input: ({ creatorFee: { id, settleTx } }) => ({ creator_fee_id: id, settle_tx: settleTx }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
}

import type { OperationId } from '@market/contract/operations'
import { DESCRIPTION, someName } from '../support/makers.ts'
import { SERVICE } from '../support/services.ts'
import type { Principal, World } from './authorisation-fixture.ts'

/** One situation: the input, and the response for each principal. */
export interface Row {
  readonly when: string
  readonly input: (world: World) => Readonly<Record<string, unknown>>
  readonly answers: Readonly<Record<Principal, number>>
}

const nothing = () => ({})

const everybody = (status: number): Row['answers'] => ({
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
const closed: Row['answers'] = { ...everybody(403), anonymous: 401 }

const people = { 'owner user': 200, 'other user': 200, 'admin session': 200 } as const
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

/** The expected authorization of every operation. An operator's credential gives no access to a user's own resources. */
export const AUTHORISATION: Readonly<Record<OperationId, readonly Row[]>> = {
  getAuthMessage: [
    {
      when: 'asked about any wallet',
      input: (world) => ({ wallet: world.ownerWallet.address }),
      answers: everybody(200),
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
      answers: everybody(201),
    },
    {
      when: 'naming the owner’s wallet as the owner',
      input: (world) => ({
        name: someName(),
        description: DESCRIPTION,
        owner_wallet: world.ownerWallet.address,
      }),
      answers: {
        ...everybody(201),
        'other wallet': 400,
        'owner user': 400,
        'other user': 400,
        'admin session': 400,
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
      when: 'changing an agent nobody owns, which is not there for other users',
      input: (world) => ({ agent_id: world.hiddenAgent.id, description: DESCRIPTION }),
      answers: { ...everybody(404), anonymous: 401, 'admin key': 403 },
    },
  ],
  listAgents: [
    { when: 'browsing', input: nothing, answers: everybody(200) },
    {
      when: 'asking for the agents of the owner’s wallet',
      input: (world) => ({ owner_wallet: world.ownerWallet.address }),
      answers: { ...everybody(200), 'other wallet': 403 },
    },
  ],
  featuredAgents: [{ when: 'browsing', input: nothing, answers: everybody(200) }],
  getAgent: [
    {
      when: 'reading a public agent',
      input: (world) => ({ agent_id: world.agent.slug }),
      answers: everybody(200),
    },
    {
      when: 'reading a hidden agent',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: everybody(404),
    },
  ],
  listModels: [{ when: 'browsing', input: nothing, answers: everybody(200) }],
  createService: [
    {
      when: 'offering a service of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id, ...SERVICE }),
      answers: { ...closed, agent: 201, 'owner user': 201, 'owner wallet': 201 },
    },
    {
      when: 'offering a service of an agent nobody owns, which is not there for other users',
      input: (world) => ({ agent_id: world.hiddenAgent.id, ...SERVICE }),
      answers: { ...everybody(404), anonymous: 401, 'admin key': 403 },
    },
  ],
  listAgentServices: [
    {
      when: 'reading what a public agent offers',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: everybody(200),
    },
    {
      when: 'reading what a hidden agent offers',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: everybody(404),
    },
  ],
  browseServices: [{ when: 'browsing', input: nothing, answers: everybody(200) }],
  hireService: [
    {
      when: 'without a payment',
      input: (world) => ({ service_id: world.service.id }),
      answers: everybody(402),
    },
  ],
  payService: [
    {
      when: 'without a payment',
      input: (world) => ({ service_id: world.service.id }),
      answers: everybody(402),
    },
  ],
  payServiceV1: [
    {
      when: 'without a payment',
      input: (world) => ({ service_id: world.service.id }),
      answers: everybody(402),
    },
  ],
  listDirectory: [{ when: 'listing payable services', input: nothing, answers: everybody(200) }],
  searchDirectory: [
    { when: 'searching payable services', input: () => ({ query: 'review' }), answers: everybody(200) },
  ],
  listPayableServices: [{ when: 'looking for something to buy', input: nothing, answers: everybody(200) }],
  listTrendingServices: [{ when: 'looking at what others buy', input: nothing, answers: everybody(200) }],
  getPurchasedOrder: [
    {
      when: 'reading an order without the word that opens it',
      input: ({ hiredOrder }) => ({ order_id: hiredOrder.id, t: 'AAAAAAAAAAAAAAAAAAAAAA' }),
      answers: everybody(404),
    },
    {
      when: 'reading an order with the word that opens it',
      input: ({ hiredOrder: { id, word } }) => ({ order_id: id, t: word }),
      answers: everybody(200),
    },
  ],
  getService: [
    {
      when: 'reading a service of a hidden agent',
      input: (world) => ({ service_id: world.hiddenService.id }),
      answers: everybody(404),
    },
    {
      when: 'reading a service',
      input: (world) => ({ service_id: world.service.id }),
      answers: everybody(200),
    },
  ],
  updateService: [
    {
      when: 'changing a service of the owner’s agent',
      input: (world) => ({ service_id: world.service.id, max_revisions: 2 }),
      answers: { ...closed, agent: 200, 'owner user': 200, 'owner wallet': 200 },
    },
    {
      when: 'changing a service of an agent nobody owns',
      input: (world) => ({ service_id: world.hiddenService.id, max_revisions: 2 }),
      answers: { ...everybody(404), anonymous: 401, 'admin key': 403 },
    },
  ],
  createOrder: [
    {
      when: 'ordering of the owner’s agent, which nobody does from themselves',
      input: (world) => ({ service_id: world.service.id, brief: 'Review this branch, please.' }),
      answers: {
        ...everybody(201),
        ...sellers(400),
        anonymous: 402,
        'admin key': 403,
      },
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
      answers: { ...everybody(404), ...parties(200), ...operators, anonymous: 401 },
    },
  ],
  actOnOrder: [
    {
      when: 'naming again the transfer that paid that order, which is its buyer’s to do',
      input: ({ orders: { paid } }) => ({ order_id: paid.id, action: 'pay', escrow_tx_hash: paid.reference }),
      answers: { ...everybody(404), ...parties(403), 'other wallet': 200, anonymous: 401, 'admin key': 403 },
    },
    {
      when: 'starting an order that is done',
      input: (world) => ({ order_id: world.completedOrder.id, action: 'start' }),
      answers: { ...everybody(404), ...sellers(400), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  quoteOrder: [
    {
      when: 'naming a price for an order of the owner’s agent',
      input: (world) => ({ order_id: world.orders.toQuote.pop(), price_usd: '5.00' }),
      answers: { ...everybody(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  deliverOrder: [
    {
      when: 'delivering an order of the owner’s agent',
      input: (world) => ({ order_id: world.orders.paid.id, deliverable_url: 'https://hooks.example/x' }),
      answers: { ...everybody(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  retryPayout: [
    {
      when: 'asking again for what the owner’s agent earned',
      input: (world) => ({ order_id: world.orders.earned.id }),
      answers: { ...everybody(404), ...sellers(200), 'other wallet': 403, anonymous: 401, 'admin key': 403 },
    },
  ],
  listAgentOrders: [
    {
      when: 'reading the orders of the owner’s agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: { ...closed, ...sellers(200) },
    },
    {
      when: 'reading the orders of an agent nobody owns',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: { ...everybody(404), anonymous: 401, 'admin key': 403 },
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
      answers: { ...everybody(404), ...parties(201), anonymous: 401, 'admin key': 403 },
    },
  ],
  listMessages: [
    {
      when: 'reading the messages of that order',
      input: (world) => ({ order_id: world.completedOrder.id }),
      answers: { ...everybody(404), ...parties(200), ...operators, anonymous: 401 },
    },
  ],
  createReview: [
    {
      when: 'reviewing that order, whose buyer alone may',
      input: (world) => ({ order_id: world.completedOrder.id, rating: 5 }),
      answers: {
        ...everybody(404),
        ...parties(403),
        'other wallet': 201,
        anonymous: 401,
        'admin key': 403,
      },
    },
  ],
  listReviews: [
    {
      when: 'reading what was said of a public agent',
      input: (world) => ({ agent_id: world.agent.id }),
      answers: everybody(200),
    },
    {
      when: 'reading what was said of a hidden agent',
      input: (world) => ({ agent_id: world.hiddenAgent.id }),
      answers: everybody(404),
    },
  ],
  listEvents: [{ when: 'reading its own events', input: nothing, answers: { ...closed, ...agents } }],
  listDeliveries: [{ when: 'reading its own deliveries', input: nothing, answers: { ...closed, ...agents } }],
  testDelivery: [{ when: 'trying its own endpoint', input: nothing, answers: { ...closed, ...agents } }],
  listNotifications: [
    { when: 'reading the own notifications', input: nothing, answers: { ...closed, ...people, ...wallets } },
  ],
  markNotifications: [
    { when: 'marking the own notifications', input: nothing, answers: { ...closed, ...people, ...wallets } },
  ],
  getSolvency: [{ when: 'looking at what covers what is owed', input: nothing, answers: everybody(200) }],
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
  getTreasury: [
    { when: 'reading how the treasuries stand', input: nothing, answers: { ...closed, ...operators } },
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
  refundTransfer: [
    {
      when: 'sending back what nobody claimed',
      input: ({ money }) => ({
        network: 'base-mainnet',
        reference: money.toGiveBack.reference,
        from: 'suspense',
        reason: 'nobody claimed it',
      }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  recognizeTransfer: [
    {
      when: 'keeping what the platform sent',
      input: ({ money }) => ({
        network: 'base-mainnet',
        reference: money.toKeep.reference,
        reason: 'it is our own',
      }),
      answers: { ...closed, 'admin session': 200 },
    },
  ],
  writeOffTransfer: [
    {
      when: 'booking a loss',
      input: ({ money }) => ({
        network: 'base-mainnet',
        reference: money.toBook.reference,
        reason: 'nobody knows it',
      }),
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
}

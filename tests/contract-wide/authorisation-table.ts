import type { OperationId } from '@market/contract/operations'
import { DESCRIPTION, someName } from '../support/makers.ts'
import type { Principal, World } from './authorisation-fixture.ts'

/** One situation: what is asked, and what each principal is answered. */
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

/** Nobody gets in: without a credential 401, with one of another kind 403. Rows open the door from here. */
const closed: Row['answers'] = { ...everybody(403), anonymous: 401 }

const people = { 'owner user': 200, 'other user': 200, 'admin session': 200 } as const
const wallets = { 'owner wallet': 200, 'other wallet': 200 } as const
const agents = { agent: 200, 'other agent': 200 } as const

/** Whom the marketplace lets do what. An operator's credential opens nothing that is somebody's own. */
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
      when: 'changing an agent nobody owns, which is not there for strangers',
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
  listEvents: [{ when: 'reading its own events', input: nothing, answers: { ...closed, ...agents } }],
  listDeliveries: [{ when: 'reading its own deliveries', input: nothing, answers: { ...closed, ...agents } }],
  testDelivery: [{ when: 'trying its own endpoint', input: nothing, answers: { ...closed, ...agents } }],
  listNotifications: [
    { when: 'reading the own notifications', input: nothing, answers: { ...closed, ...people, ...wallets } },
  ],
  markNotifications: [
    { when: 'marking the own notifications', input: nothing, answers: { ...closed, ...people, ...wallets } },
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
}

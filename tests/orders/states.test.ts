import { ACTORS, type Action, type OrderRole, type Status, TRANSITIONS } from '@market/trade/orders'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Reply } from '../support/client.ts'
import { makeUser, type Signer, signOnce } from '../support/makers.ts'
import { operatorToken } from '../support/operator.ts'
import { ADMIN_USER } from '../support/settings.ts'
import { DELIVERY, type OrderWorld, type Parties, startOrderWorld } from './order-world.ts'

const STATES = Object.keys(TRANSITIONS) as Status[]
const PRINCIPALS = ['buyer', 'provider', 'owner', 'otherUser', 'admin', 'anonymous'] as const
type Principal = (typeof PRINCIPALS)[number]

/** What each act sends, and where to; the clock's own acts are no calls. */
const PATCH = (fields: Record<string, unknown> = {}) => ({ method: 'PATCH', suffix: '', fields })
const CALLS: Partial<
  Record<Action, { method: string; suffix: string; admin?: true; fields: Record<string, unknown> }>
> = {
  accept: PATCH(),
  pay: PATCH(),
  approve: PATCH(),
  revision: PATCH({ feedback: 'A little more blue' }),
  dispute: PATCH({ reason: 'It is not blue' }),
  cancel: PATCH(),
  start: PATCH(),
  decline_revision: PATCH(),
  refund: PATCH(),
  quote: { method: 'POST', suffix: '/quote', fields: { price_usd: '30.00' } },
  deliver: { method: 'POST', suffix: '/deliver', fields: DELIVERY },
  award: { method: 'POST', suffix: '/resolve', admin: true, fields: { outcome: 'release', note: 'Heard.' } },
  reverse: { method: 'POST', suffix: '/resolve', admin: true, fields: { outcome: 'refund', note: 'Heard.' } },
}
const ACTIONS = Object.keys(CALLS) as Action[]
const BY_THE_CLOCK: readonly Action[] = [
  'finish',
  'release',
  'overdue',
  'expire',
  'lapse',
  'undo',
  'restore_delivery',
  'contest_payment',
]
/** Follow from the payer's signature for a purchase with the same transfer. */
const INDIRECT: readonly Action[] = ['confirm_payer', 'return_payment']

/** What the tables let through and the order's own time or past does not. */
const NOT_YET: Readonly<Record<string, string>> = {
  'in_progress cancel buyer': 'not_late_yet',
  'revision_requested cancel buyer': 'not_late_yet',
  'revision_requested cancel provider': 'delivered_before',
  'revision_requested cancel owner': 'delivered_before',
  // Only while the payment is contested.
  ...Object.fromEntries(
    ['delivered', 'revision_requested', 'completed'].flatMap((state) =>
      ['award', 'reverse'].map((action) => [`${state} ${action} admin`, 'illegal_transition']),
    ),
  ),
}

interface Cell {
  readonly state: Status
  readonly action: Action
  readonly principal: Principal
}

const ROLES: Readonly<Record<Principal, OrderRole | undefined>> = {
  buyer: 'buyer',
  provider: 'provider',
  owner: 'owner',
  otherUser: undefined,
  admin: 'arbiter',
  anonymous: undefined,
}

const leadsTo = ({ state, action }: Cell): Status | undefined =>
  (TRANSITIONS[state] as Partial<Record<Action, Status>>)[action]

/** What the tables and the decisions about 401, 403 and 404 say of a cell. */
function expectedOf(cell: Cell): { status: number; code?: string; to?: Status } {
  const { state, action, principal } = cell
  const isArbitration = CALLS[action]?.admin === true
  if (principal === 'anonymous') return { status: 401, code: 'credentials_missing' }
  if (isArbitration && principal !== 'admin') return { status: 403, code: 'wrong_credential' }
  if (!isArbitration && (principal === 'otherUser' || principal === 'admin'))
    return { status: 404, code: 'order_not_found' }
  const actors: readonly (OrderRole | undefined)[] = ACTORS[action]
  if (!actors.includes(ROLES[principal])) return { status: 403, code: 'not_your_act' }
  const to = leadsTo(cell)
  if (to === undefined) return { status: 400, code: 'illegal_transition' }
  const notYet = NOT_YET[`${state} ${action} ${principal}`]
  return notYet === undefined ? { status: 200, to } : { status: 400, code: notYet }
}

const CELLS: Cell[] = STATES.flatMap((state) =>
  ACTIONS.flatMap((action) => PRINCIPALS.map((principal) => ({ state, action, principal }))),
)

let world: OrderWorld
let parties: Parties
let otherUser: { token: string }
let adminToken: string
/** Rejected requests share one order per state; an accepted request gets its own. */
const standing = new Map<Status, string>()

beforeAll(async () => {
  world = await startOrderWorld()
  parties = await world.newParties()
  otherUser = await makeUser(world.market)
  await makeUser(world.market, { sub: ADMIN_USER })
  adminToken = await operatorToken(world.market)
})
afterAll(() => world.stop())

async function credentialOf(principal: Principal, purpose: string) {
  const sign = async (signer: Signer) => {
    return { headers: await signOnce(world.market, signer, purpose) }
  }
  switch (principal) {
    case 'buyer':
      return sign(parties.buyer)
    case 'owner':
      return sign(parties.seller.owner)
    case 'provider':
      return { bearer: parties.seller.apiKey }
    case 'otherUser':
      return { bearer: otherUser.token }
    case 'admin':
      return { bearer: adminToken }
    case 'anonymous':
      return {}
  }
}

async function callOf({ action, principal }: Cell, id: string, hash: string): Promise<Reply> {
  const call = CALLS[action]
  if (call === undefined) throw new Error(`${action} is no call`)
  const isPatch = call.method === 'PATCH'
  const path = call.admin ? `/api/admin/orders/${id}${call.suffix}` : `/api/orders/${id}${call.suffix}`
  const body = {
    ...(isPatch && { action }),
    ...(action === 'pay' && { escrow_tx_hash: hash }),
    ...call.fields,
  }
  const price = action === 'quote' ? `:${call.fields?.['price_usd']}` : ''
  const purpose = call.admin ? 'session' : `orders.${action}:${id}${price}`
  const credential = await credentialOf(principal, purpose)
  return world.market.client().send(call.method, path, { body, ...credential })
}

const NO_TRANSFER = `0x${'7'.repeat(64)}`

async function standingIn(state: Status): Promise<string> {
  const known = standing.get(state) ?? (await world.walk(parties, state))
  standing.set(state, known)
  return known
}

const statusOf = async (id: string) =>
  (await world.market.db.selectFrom('orders').select('status').where('id', '=', id).executeTakeFirstOrThrow())
    .status

test('the table has at least 600 cells, and every action is a request or a deadline', () => {
  expect(CELLS.length).toBeGreaterThanOrEqual(600)
  expect(STATES).toHaveLength(10)
  expect([...ACTIONS, ...BY_THE_CLOCK, ...INDIRECT].sort()).toEqual(Object.keys(ACTORS).sort())
  for (const action of BY_THE_CLOCK) expect(ACTORS[action]).toEqual(['clock'])
})

test('every status is reachable, and a final status is reachable from every other', () => {
  const reach = (from: Status, seen = new Set<Status>()): Set<Status> => {
    if (seen.has(from)) return seen
    seen.add(from)
    for (const to of Object.values(TRANSITIONS[from]) as Status[]) reach(to, seen)
    return seen
  }
  expect([...reach('pending_quote')].sort()).toEqual([...STATES].sort())
  for (const state of STATES)
    expect(reach(state).has('completed') || reach(state).has('cancelled')).toBe(true)
})

describe.each(STATES)('order with status %s', (state) => {
  test.each(CELLS.filter((cell) => cell.state === state))(
    '$action by $principal: allowed exactly if the tables allow it',
    async (cell) => {
      const expected = expectedOf(cell)
      const isLetIn = expected.status === 200
      const id = isLetIn ? await world.walk(parties, state) : await standingIn(state)
      const hash = isLetIn && cell.action === 'pay' ? await world.settled(parties.buyer) : NO_TRANSFER
      const reply = await callOf(cell, id, hash)
      expect({ status: reply.status, code: reply.body.code }).toEqual({
        status: expected.status,
        code: expected.code,
      })
      expect(await statusOf(id)).toBe(expected.to ?? state)
    },
  )
})

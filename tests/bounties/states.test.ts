import { DAY, HOUR } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import {
  BOUNTY_ACTORS,
  BOUNTY_TRANSITIONS,
  type Bounty,
  type BountyStatus,
  CLAIM_ACTORS,
  CLAIM_TRANSITIONS,
  type Claim,
  type ClaimStatus,
} from '@market/offers/bounties'
import { agentActor } from '@market/testing/make-actor'
import { makeAgent } from '@market/testing/makers'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newBuyer, type TestBuyer } from '../orders/order-fixture.ts'
import { outcome } from '../payments/payment-fixture.ts'
import { type BountyFixture, type Claimant, openBountyFixture, type Poster } from './bounty-fixture.ts'

/** Which statuses a claim can have while its bounty has the given one. */
const CLAIMS: Readonly<Record<BountyStatus, readonly ClaimStatus[]>> = {
  open: ['pending', 'withdrawn', 'expired'],
  claimed: ['accepted', 'rejected', 'withdrawn', 'expired'],
  completed: ['accepted', 'rejected', 'withdrawn', 'expired'],
  cancelled: ['accepted', 'rejected', 'withdrawn', 'expired'],
  expired: ['withdrawn', 'expired'],
}
const COMMANDS = ['cancel', 'accept', 'claim', 'withdraw'] as const
const USERS = ['poster', 'claimant', 'otherUser'] as const
/** What the application does by itself: time, and what becomes of the order. */
const BY_CLOCK = ['expire', 'complete', 'reopen', 'end'] as const

type Command = (typeof COMMANDS)[number]
type User = (typeof USERS)[number]
type ByClock = (typeof BY_CLOCK)[number]

interface Statuses {
  readonly bounty: BountyStatus
  readonly claim: ClaimStatus
}

interface Made {
  readonly bounty: Bounty
  readonly claim: Claim
  readonly orderId: OrderId | undefined
}

const PAIRS: Statuses[] = (Object.keys(BOUNTY_TRANSITIONS) as BountyStatus[]).flatMap((bounty) =>
  CLAIMS[bounty].map((claim) => ({ bounty, claim })),
)
const CELLS = COMMANDS.flatMap((command) => USERS.map((user) => ({ command, user })))
const CLOCK_CELLS = BY_CLOCK.map((action) => ({ action, needsOrder: action !== 'expire' }))

/** A bounty that was cancelled before a claim was accepted has none. */
const hasOrder = ({ bounty, claim }: Statuses): boolean =>
  bounty === 'claimed' || bounty === 'completed' || claim === 'accepted'

let fixture: BountyFixture
let poster: TestBuyer
let claimant: Claimant
let rival: Claimant
let other: Claimant
/** An agent of the poster. */
let own: Claimant
beforeAll(async () => {
  fixture = await openBountyFixture()
  poster = newBuyer()
  claimant = await fixture.makeClaimant()
  rival = await fixture.makeClaimant()
  other = await fixture.makeClaimant()
  const { agent } = await makeAgent(fixture.ctx, { owner: { kind: 'wallet', wallet: poster.wallet } })
  own = { agentId: agent.id, actor: agentActor(agent.id) }
})
afterAll(async () => {
  await fixture.expectBalanced()
  await fixture.stop()
})

/** A bounty with a claim, brought to their statuses by commands and the clock. */
async function makeAt(at: Statuses, by: Poster = poster): Promise<Made> {
  const bounty = await fixture.post(by)
  const claim = await fixture.claim(claimant, bounty.id)
  if (at.claim === 'withdrawn') await fixture.withdraw(claimant, bounty.id)
  if (at.claim === 'expired') await passTime(24 * HOUR)
  if (at.bounty === 'expired') await passTime(30 * DAY)
  if (at.bounty === 'cancelled' && at.claim !== 'accepted') await fixture.cancelBounty(by, bounty.id)
  if (!hasOrder(at)) return { bounty, claim, orderId: undefined }
  const [winner, won] =
    at.claim === 'accepted' ? [claimant, claim] : [rival, await fixture.claim(rival, bounty.id)]
  const { orderId } = await fixture.accept(by, won, fixture.fund(by))
  if (orderId === null) throw new Error('the transfer was confirmed')
  if (at.bounty === 'cancelled') await fixture.cancel(by, orderId)
  else await fixture.deliverBy(winner, orderId)
  if (at.bounty === 'completed') await fixture.approve(by, orderId)
  return { bounty, claim, orderId }
}

const unchanged = new Map<string, Promise<Made>>()

/** One for all cells that must not change it, because making one takes most of the time of a cell. Each cell checks it. */
function makeOnce(name: string, at: Statuses): Promise<Made> {
  const made = unchanged.get(name) ?? makeAt(at)
  unchanged.set(name, made)
  return made
}

async function passTime(ms: number): Promise<void> {
  fixture.clock.advance(ms)
  await fixture.expire()
}

async function statusesOf({ bounty, claim }: Made): Promise<Statuses & { readonly pending: number }> {
  const { status, pendingClaims } = await fixture.bounty(bounty.id)
  const found = await fixture.claimById(bounty.id, claim.id)
  return { bounty: status, claim: found?.status ?? 'pending', pending: pendingClaims }
}

async function countPending({ bounty }: Made): Promise<number> {
  const { rows } = await sql<{ pending: bigint }>`
    select count(*) as pending from bounty_claims where bounty_id = ${bounty.id} and status = 'pending'
  `.execute(fixture.db)
  return Number(rows[0]?.pending)
}

const actorOf = (user: User) => ({ poster, claimant: claimant.actor, otherUser: newBuyer() })[user]
const agentOf = (user: User) => ({ poster: own, claimant, otherUser: other })[user]

function run(command: Command, user: User, { bounty, claim }: Made, reference: string): Promise<unknown> {
  switch (command) {
    case 'cancel':
      return fixture.cancelBounty(actorOf(user), bounty.id)
    case 'accept':
      return fixture.accept(actorOf(user), claim, reference)
    case 'claim':
      return fixture.claim(agentOf(user), bounty.id)
    case 'withdraw':
      return fixture.withdraw(agentOf(user), bounty.id)
  }
}

type Table = Readonly<Record<string, Readonly<Record<string, string>>>>
const bountyAfter = (at: Statuses, action: string) =>
  (BOUNTY_TRANSITIONS as Table)[at.bounty]?.[action] as BountyStatus | undefined
const claimAfter = (at: Statuses, action: string) =>
  (CLAIM_TRANSITIONS as Table)[at.claim]?.[action] as ClaimStatus | undefined

/** The error of a cell, or the statuses after it. A claim that is not named keeps its status. */
function expectedOf(at: Statuses, command: Command, user: User): string | Partial<Statuses> {
  switch (command) {
    case 'cancel': {
      if (!isIn(BOUNTY_ACTORS.cancel, user)) return 'not_your_bounty'
      const to = bountyAfter(at, 'cancel')
      return to === undefined
        ? 'bounty_not_open'
        : { bounty: to, claim: claimAfter(at, 'reject') ?? at.claim }
    }
    case 'accept': {
      if (!isIn(BOUNTY_ACTORS.accept, user)) return 'not_your_bounty'
      const [bounty, claim] = [bountyAfter(at, 'accept'), claimAfter(at, 'accept')]
      if (bounty === undefined) return 'bounty_not_open'
      return claim === undefined ? 'claim_not_pending' : { bounty, claim }
    }
    case 'claim':
      if (at.bounty !== 'open') return 'bounty_not_open'
      if (user === 'poster') return 'own_bounty'
      return user === 'claimant' && at.claim === 'pending' ? 'already_claimed' : {}
    case 'withdraw': {
      if (!isIn(CLAIM_ACTORS.withdraw, user)) return 'claim_not_found'
      const to = claimAfter(at, 'withdraw')
      // Withdrawing twice is the same as once.
      if (to === undefined && at.claim !== 'withdrawn') return 'claim_not_pending'
      return { claim: 'withdrawn' }
    }
  }
}

const isIn = (roles: readonly string[], user: User): boolean => roles.includes(user)

test('every action of the tables is a command or follows from the clock or the order', () => {
  const actions = (table: Table) => Object.values(table).flatMap((next) => Object.keys(next))
  expect(new Set(actions(BOUNTY_TRANSITIONS))).toEqual(new Set(['accept', 'cancel', ...BY_CLOCK]))
  // Accepting another claim and cancelling the bounty reject a claim.
  expect(new Set(actions(CLAIM_TRANSITIONS))).toEqual(new Set(['accept', 'reject', 'withdraw', 'expire']))
  for (const action of BY_CLOCK) expect(BOUNTY_ACTORS[action]).toEqual(['clock'])
  expect(CLAIM_ACTORS.expire).toEqual(['clock'])
  expect(CLAIM_ACTORS.reject).toEqual(['poster'])
  expect(PAIRS.length).toBe(17)
})

describe.each(PAIRS)('bounty $bounty, claim $claim', (at) => {
  test.each(CELLS)('$command by $user: allowed exactly if the tables allow it', async ({ command, user }) => {
    const expected = expectedOf(at, command, user)
    const isRejected = typeof expected === 'string'
    const made = await (isRejected ? makeOnce(`bounty ${at.bounty}, claim ${at.claim}`, at) : makeAt(at))
    const reference = command === 'accept' ? fixture.fund(poster) : ''
    const ended = await outcome(run(command, user, made, reference))
    if (isRejected) expect(ended).toBe(expected)
    else expect(ended).not.toBeTypeOf('string')
    const after = isRejected ? at : { ...at, ...expected }
    const found = await statusesOf(made)
    expect(found).toMatchObject(after)
    expect(found.pending).toBe(await countPending(made))
    if (command === 'accept') expect(await useOf(reference)).toBe(useAfter(user, expected))
  })

  test.each(CLOCK_CELLS.filter(({ needsOrder }) => !needsOrder || hasOrder(at)))(
    '$action by the clock: changes the statuses exactly if the tables say so',
    async ({ action }) => {
      // An agent's API key does not prove its owner's wallet, so the wallet can use the transfer for something else.
      const agent = { ...own.actor, ownerWallets: [poster.wallet], wallet: poster.wallet } as Poster
      const isEndOfCompleted = action === 'end' && at.bounty === 'completed'
      const made = await makeAt(at, isEndOfCompleted ? agent : poster)
      if (isEndOfCompleted) await useElsewhere(made)
      else await happen(action, made)
      expect(await statusesOf(made)).toMatchObject({
        bounty: bountyAfter(at, action) ?? at.bounty,
        claim: claimAfter(at, action) ?? at.claim,
        pending: 0,
      })
    },
  )
})

/** The wallet that paid accepts the claim of another bounty with the same transfer. */
async function useElsewhere({ orderId }: Made): Promise<void> {
  const second = await fixture.post(poster)
  const order = await fixture.read(orderId as OrderId)
  if (!('payment' in order)) throw new Error('it is paid')
  await fixture.accept(poster, await fixture.claim(rival, second.id), order.payment.reference)
}

async function happen(action: ByClock, { orderId }: Made): Promise<void> {
  if (action === 'expire') return passTime(30 * DAY)
  if (action === 'reopen') return fixture.dropLastBlock()
  if (orderId === undefined) throw new Error('it has an order')
  // The order is delivered: its review ends, or the poster disputes it and an arbiter refunds it.
  if (action === 'end' && (await fixture.read(orderId)).status === 'delivered') await refundDisputed(orderId)
  fixture.clock.advance(72 * HOUR)
  await fixture.sweepDue()
}

async function refundDisputed(orderId: OrderId): Promise<void> {
  await fixture.dispute(poster, orderId)
  await fixture.resolve(orderId, { outcome: 'refund' })
}

/** What became of a transfer: what it pays for, or `unused`. */
async function useOf(reference: string): Promise<string> {
  const { rows } = await sql<{ purpose: string }>`
    select split_part(purpose, ':', 1) as purpose from transfers where starts_with(subject, ${reference})
  `.execute(fixture.db)
  return rows[0]?.purpose ?? 'unused'
}

/** Only the poster can name the transfer. It pays the order, or is refunded. */
function useAfter(user: User, expected: string | Partial<Statuses>): 'unused' | 'bounty' | 'order' {
  if (user !== 'poster') return 'unused'
  if (typeof expected !== 'string') return 'order'
  return expected === 'claim_not_pending' ? 'unused' : 'bounty'
}

import { randomUUID } from 'node:crypto'
import { isTrueWithin } from '../../support/until.ts'
import type { ClientResponse } from './client.ts'
import { acknowledge, isDone, type RunContext } from './order-actions.ts'
import { type Seller, usd } from './sellers.ts'
import type { Prepared } from './test-chain.ts'
import { briefOf, type TestBounty, type TestClaim, type TestOrder } from './test-order.ts'

/** Requests of bounties, which are not steps of an order. */
export const BOUNTY_ACTIONS = ['post_bounty', 'claim_bounty', 'accept_claim', 'cancel_bounty'] as const

const POLL_MS = 300
const ORDERED_WITHIN_MS = 8_000

/** The budget is the price of a listing, and the text is that of the order. */
async function post({ client }: RunContext, testOrder: TestOrder): Promise<string | undefined> {
  const { buyer, key, listing } = testOrder
  const answer = await acknowledge(testOrder, 'post_bounty', {
    key,
    sending: client.send({
      method: 'POST',
      path: '/api/bounties',
      caller: { wallet: buyer },
      purpose: `bounties.create:${buyer.address}`,
      key,
      body: {
        title: 'Review of a pull request',
        brief: briefOf(testOrder),
        category: 'coding',
        budget_usd: usd(listing.price),
        deadline_hours: 168,
        client_wallet: buyer.address,
      },
    }),
  })
  return isDone(answer) ? (answer?.body.data.bounty_id as string) : undefined
}

async function claim(
  { client }: RunContext,
  testOrder: TestOrder,
  bountyId: string,
  seller: Seller,
): Promise<TestClaim[]> {
  const key = randomUUID()
  const answer = await acknowledge(testOrder, 'claim_bounty', {
    key,
    sending: client.send({
      method: 'POST',
      path: `/api/bounties/${bountyId}/claim`,
      caller: { bearer: seller.apiKey },
      key,
    }),
  })
  return isDone(answer) ? [{ id: answer?.body.data.claim_id as string, seller }] : []
}

/** The buyer posts a bounty, and the agents claim it. Undefined without a claim. */
export async function postClaimed(
  context: RunContext,
  testOrder: TestOrder,
  sellers: readonly Seller[],
): Promise<TestBounty | undefined> {
  const id = await post(context, testOrder)
  if (id === undefined) return undefined
  const claims = await Promise.all(sellers.map((seller) => claim(context, testOrder, id, seller)))
  testOrder.bounty = { id, claims: claims.flat() }
  return testOrder.bounty.claims.length === 0 ? undefined : testOrder.bounty
}

/** Names a transfer for a claim. */
export async function acceptClaim(
  { client }: RunContext,
  testOrder: TestOrder,
  { id }: TestClaim,
  { network, reference }: Prepared,
): Promise<ClientResponse | undefined> {
  const key = randomUUID()
  const bountyId = testOrder.bounty?.id
  return acknowledge(testOrder, 'accept_claim', {
    key,
    reference,
    sending: client.send({
      method: 'POST',
      path: `/api/bounties/${bountyId}/accept`,
      caller: { wallet: testOrder.buyer },
      purpose: `bounties.accept:${bountyId}:${id}`,
      key,
      body: {
        claim_id: id,
        client_wallet: testOrder.buyer.address,
        escrow_tx_hash: reference,
        payment_network: network,
      },
    }),
  })
}

export function cancelBounty({ client }: RunContext, testOrder: TestOrder) {
  const key = randomUUID()
  const bountyId = testOrder.bounty?.id
  return acknowledge(testOrder, 'cancel_bounty', {
    key,
    sending: client.send({
      method: 'PATCH',
      path: `/api/bounties/${bountyId}`,
      caller: { wallet: testOrder.buyer },
      purpose: `bounties.cancel:${bountyId}`,
      key,
      body: { status: 'cancelled' },
    }),
  })
}

/**
 * Whether the bounty has become an order, polling for a while: a transfer that was not confirmed counts later. Stores the
 * order's id and its agent.
 */
export async function isOrdered({ client }: RunContext, testOrder: TestOrder): Promise<boolean> {
  const { bounty, buyer } = testOrder
  const isFound = async () => {
    const answer = await client.send({
      method: 'GET',
      path: `/api/bounties/${bounty?.id}?include_claims=1`,
      caller: { wallet: buyer },
    })
    const { order_id: orderId, claims } = answer?.body.data ?? {}
    if (typeof orderId !== 'string') return false
    const won = (claims as { claim_id: string; status: string }[]).find(({ status }) => status === 'accepted')
    const accepted = bounty?.claims.find(({ id }) => id === won?.claim_id)
    testOrder.seller = accepted?.seller ?? testOrder.seller
    testOrder.orderId = orderId
    return true
  }
  return isTrueWithin(ORDERED_WITHIN_MS, isFound, POLL_MS)
}

import { randomBytes } from 'node:crypto'
import type { OrderWorld } from '../orders/order-world.ts'
import { ESCROW, makeBounty, makeClaim } from './bounties.ts'
import type { RequestOptions } from './client.ts'
import { signOnce } from './makers.ts'
import { namedIn } from './named-transfers.ts'

export interface WantedClaim {
  readonly id: string
  readonly bountyId: string
}

/** A hash of no transaction. */
export const someHash = () => `0x${randomBytes(32).toString('hex')}`

export const acceptPath = (bountyId: string) => `/api/bounties/${bountyId}/accept`

/** What one poster with money does to accept claims. */
export async function acceptancesOf(world: OrderWorld) {
  const { market } = world
  const buyer = await world.newBuyer()
  const bodyOf = (
    { id }: Pick<WantedClaim, 'id'>,
    escrow_tx_hash: string,
    fields: Record<string, unknown> = {},
  ) => ({ claim_id: id, client_wallet: buyer.address, escrow_tx_hash, ...fields })
  const acceptWith = ({ bountyId }: WantedClaim, body: unknown, ask: RequestOptions) =>
    market.client().post(acceptPath(bountyId), body, ask)
  return {
    buyer,
    bodyOf,
    acceptWith,
    /** By the signature of the wallet that posted. */
    accept: async (claim: WantedClaim, hash: string, fields: Record<string, unknown> = {}) =>
      acceptWith(claim, bodyOf(claim, hash, fields), {
        headers: await signOnce(market, buyer, `bounties.accept:${claim.bountyId}:${claim.id}`),
      }),
    /** A bounty of the buyer with one claim. */
    makeClaimed: async () => {
      const bounty = await makeBounty(market, {}, buyer)
      return { bounty, claim: await makeClaim(market, bounty.id) }
    },
    /** A confirmed transfer of the buyer. */
    escrow: (micros = ESCROW) => world.settled(buyer, micros),
    eventsOf: async (apiKey: string) =>
      (await market.client().get('/api/events', { bearer: apiKey })).body.data,
    /** What is returned to the buyer of transfers that were more than was due. */
    surplus: async () => {
      const rows = await market.db
        .selectFrom('payouts')
        .select('amount_micros')
        .where('kind', '=', 'surplus')
        .where('payee', '=', buyer.address.toLowerCase())
        .execute()
      return rows.map(({ amount_micros }) => amount_micros)
    },
    refundsOf: async (bountyId: string) => {
      const rows = await market.db
        .selectFrom('payouts')
        .select(['payee', 'amount_micros'])
        .where('subject', 'in', namedIn(bountyId))
        .execute()
      return rows.map(({ payee, amount_micros }) => [payee, amount_micros])
    },
  }
}

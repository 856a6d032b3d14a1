import { evmSigner } from '@market/testing/evm-signer'
import { expect } from 'vitest'
import type { Reply, RequestOptions } from './client.ts'
import { makeOwnedAgent, type Signer, signOnce } from './makers.ts'
import type { Market } from './market.ts'
import { INSTANT } from './shapes.ts'

export const BOUNTY = {
  title: 'A logo for a bakery',
  brief: 'One colour, readable at 16 pixels, as SVG.',
  category: 'image_gen',
  budget_usd: 20,
  deadline_hours: 24,
} as const

/** 110 % of the budget, in micro-USD. */
export const ESCROW = 22_000_000n

export const NO_BOUNTY = `bnty_1700000000000_${'0'.repeat(17)}`
export const NO_CLAIM = `bcl_1700000000000_${'0'.repeat(17)}`

export const BOUNTY_ID = /^bnty_\d{13}_[0-9a-z]{17}$/
export const CLAIM_ID = /^bcl_\d{13}_[0-9a-z]{17}$/

const instant = () => expect.stringMatching(INSTANT) as string

/** Every field of a new bounty with the fields of `BOUNTY`. */
export const bountyOf = (id: string, wallet: string, fields: Record<string, unknown> = {}) => ({
  ...BOUNTY,
  bounty_id: id,
  escrow_usd: '22.00',
  claim_window_hours: 24,
  client_wallet: wallet,
  reference_urls: [],
  reference_images: [],
  status: 'open',
  pending_claims: 0,
  created_at: instant(),
  updated_at: instant(),
  expires_at: instant(),
  ...fields,
})

/** Every field of a pending claim. */
export const claimOf = (
  { id, bountyId, agentId }: { id: string; bountyId: string; agentId: string },
  fields: Record<string, unknown> = {},
) => ({
  claim_id: id,
  bounty_id: bountyId,
  agent_id: agentId,
  message: '',
  status: 'pending',
  created_at: instant(),
  expires_at: instant(),
  ended_at: null,
  ...fields,
})

function created(reply: Reply) {
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  return reply.body.data
}

/** A bounty posted by a wallet with its signature. `sign` makes headers for one call of the poster. */
export async function makeBounty(
  market: Market,
  fields: Record<string, unknown> = {},
  poster: Signer = evmSigner(),
) {
  const sign = (purpose: string) => signOnce(market, poster, purpose)
  const body = { ...BOUNTY, client_wallet: poster.address, ...fields }
  const headers = await sign(`bounties.create:${poster.address}`)
  const data = created(await market.client().post('/api/bounties', body, { headers }))
  return { id: data.bounty_id as string, poster, sign, data }
}

/** Posts with a bearer credential. */
export async function postAs(market: Market, ask: RequestOptions, fields: Record<string, unknown>) {
  return created(await market.client().post('/api/bounties', { ...BOUNTY, ...fields }, ask))
    .bounty_id as string
}

export const claimPath = (bountyId: string) => `/api/bounties/${bountyId}/claim`

/** A pending claim, by default of a new agent whose owner is verified. */
export async function makeClaim(
  market: Market,
  bountyId: string,
  agent?: { readonly id: string; readonly apiKey: string },
  message = '',
) {
  const claimant = agent ?? (await makeOwnedAgent(market))
  const data = created(
    await market.client().post(claimPath(bountyId), { message }, { bearer: claimant.apiKey }),
  )
  return { id: data.claim_id as string, bountyId, agentId: claimant.id, agent: claimant, data }
}

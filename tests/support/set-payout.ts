import type { EvmSigner } from '@market/testing/evm-signer'
import type { Reply } from './client.ts'
import { signed } from './makers.ts'
import type { Market } from './market.ts'

interface OwnedByWallet {
  readonly id: string
  readonly apiKey: string
  readonly owner: EvmSigner
}

type Address = 'payout_wallet' | 'payout_address_base'

/** The agent asks for a payout address, and its owner confirms it, so that it is in effect at once. */
export async function setPayout(
  market: Market,
  agent: OwnedByWallet,
  field: Address,
  address: string,
): Promise<void> {
  const ask = { bearer: agent.apiKey }
  done(await market.client().patch('/api/agents/me', { [field]: address }, ask))
  done(await confirmPayout(market, agent, address))
}

/** The owner's wallet confirms the pending setting with this value. */
export async function confirmPayout(
  market: Market,
  { id, owner }: Pick<OwnedByWallet, 'id' | 'owner'>,
  address: string,
): Promise<Reply> {
  const proof = await signed(owner, `agents.payout:${id}:${address}`, market.wallTime())
  return market.client().post(`/api/agents/${id}/payout-change/confirm`, { address, ...proof })
}

function done(reply: Reply): void {
  if (reply.status >= 300) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
}

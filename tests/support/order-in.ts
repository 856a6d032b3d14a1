import type { OrderId } from '@market/kernel/ids'
import { evmSigner } from '@market/testing/evm-signer'
import { putOrderIn } from '@market/testing/make-order'
import type { Status } from '@market/trade/orders'
import { asHeaders, makeOwnedAgent, signed } from './makers.ts'
import type { Market } from './market.ts'
import { makeService } from './services.ts'

type Service = Awaited<ReturnType<typeof makeService>>

/** An agent with an owner and something to sell. */
export async function makeShop(market: Market) {
  const agent = await makeOwnedAgent(market)
  return { agent, service: await makeService(market, agent) }
}

/** An order of this service by a wallet, put into the state the test is about; `headers` sign as that wallet. */
export async function makeOrderIn(market: Market, service: Service, status: Status, buyer = evmSigner()) {
  const headers = asHeaders(await signed(buyer, 'session', market.now()))
  const wanted = { service_id: service.id, brief: 'Observation at the branch of yesterday, please.' }
  const reply = await market.client().post('/api/orders', wanted, { headers })
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  const id = reply.body.data.id as OrderId
  await putOrderIn(market.db, id, status, new Date(market.now()))
  return { id, service, buyer, headers }
}

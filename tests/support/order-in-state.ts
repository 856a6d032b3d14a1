import type { OrderId } from '@market/kernel/ids'
import { evmSigner } from '@market/testing/evm-signer'
import { putOrderIn } from '@market/testing/make-order'
import type { Status } from '@market/trade/orders'
import { makeOwnedAgent, signOnce } from './makers.ts'
import type { Market } from './market.ts'
import { makeService } from './services.ts'

type Service = Awaited<ReturnType<typeof makeService>>

/** An owned agent with one service. */
export async function makeAgentWithService(market: Market) {
  const agent = await makeOwnedAgent(market)
  return { agent, service: await makeService(market, agent) }
}

/** An order by a wallet in the given state. `headers` are signed by that wallet for reads, `sign` for one write. */
export async function makeOrderIn(market: Market, service: Service, status: Status, buyer = evmSigner()) {
  const sign = (purpose: string) => signOnce(market, buyer, purpose)
  const headers = await sign('session')
  const wanted = { service_id: service.id, brief: 'Review the branch from yesterday, please.' }
  const reply = await market.client().post('/api/orders', wanted, {
    headers: await sign(`orders.create:${service.id}`),
  })
  if (reply.status !== 201) throw new Error(`${reply.status}: ${JSON.stringify(reply.body)}`)
  const id = reply.body.data.id as OrderId
  await putOrderIn(market.db, id, status, new Date(market.now()))
  return { id, service, buyer, headers, sign }
}

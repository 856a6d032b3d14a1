import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CLIENTS_CLOSE } from '@market/testing/idle-connections'

export const SOL = 'So11111111111111111111111111111111111111112'

const known: RequestListener = (_, response) =>
  response.end(JSON.stringify({ [SOL]: { usd: 1.5e-9, usd_market_cap: 80_000_000_000 } }))

/** A server that knows the price of one token. A test can let it respond with something else. */
export async function startPriceSource() {
  const source = { respond: known }
  const server = createServer(CLIENTS_CLOSE, (request, response) => source.respond(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/?mints={mints}`,
    respondWith: (listener: RequestListener = known) => {
      source.respond = listener
    },
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

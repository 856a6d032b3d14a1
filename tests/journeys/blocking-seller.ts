import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { Market, type SellOptions } from '@market/sdk'

/** A seller whose work ends when END_FILE exists. With SECRET it gets webhooks at PORT, else the stream. */

const { MARKET_API_URL = '', MARKET_API_KEY = '', SERVICE_ID = '', END_FILE = '', SECRET, PORT } = process.env
const market = new Market({ apiUrl: MARKET_API_URL, apiKey: MARKET_API_KEY })
const options: SellOptions = {
  service: SERVICE_ID,
  work: async ({ order }) => {
    while (!existsSync(END_FILE)) await wait(20)
    return `Done by process ${process.pid}: ${order.brief}`
  },
  onProgress: (progress) => process.stdout.write(`${JSON.stringify(progress)}\n`),
}

if (SECRET === undefined) await market.sell(options)
else {
  const seller = market.seller({ ...options, secret: SECRET })
  createServer(async (incoming, outgoing) => {
    const body = new Uint8Array(Buffer.concat(await incoming.toArray()))
    const headers = incoming.headers as Record<string, string>
    const { method = 'GET' } = incoming
    const { status } = await seller.fetch(
      new Request('http://seller.example/', { method, headers, ...(method === 'POST' && { body }) }),
    )
    process.stdout.write(`${JSON.stringify({ step: 'responded', status })}\n`)
    outgoing.writeHead(status).end()
  }).listen(Number(PORT), '127.0.0.1')
}

import { evmPayer, type Job, Market } from '@market/sdk'
import { privateKeyToAccount } from 'viem/accounts'

/** An agent that hires another agent for a part of its work. SERVICE_ID is what it buys, BUYER_KEY pays for it. */

const {
  MARKET_API_URL: apiUrl = '',
  MARKET_API_KEY: apiKey = '',
  SERVICE_ID = '',
  BUYER_KEY = '',
} = process.env
const market = new Market({ apiUrl, apiKey })
const payer = evmPayer(privateKeyToAccount(BUYER_KEY as `0x${string}`))

async function work({ order, signal }: Job): Promise<string> {
  const hired = await market.hire({
    service: SERVICE_ID,
    brief: order.brief,
    payer,
    maxUsd: '0.55',
    // Of the order: when this program is started again while it waits, it does not buy a second time.
    idempotencyKey: `resell:${order.id}:${order.revision_count}`,
    signal,
  })
  // The purchase is of this agent, which reviews it. An approval pays the other agent at once.
  if (hired.order.status === 'delivered')
    await market.actOnOrder({ order_id: hired.order.id, action: 'approve' })
  return `Report on your text: ${hired.deliverables[0]?.content ?? 'no result'}`
}

await market.sell({
  service: {
    category: 'analytics',
    title: 'A report on the length of a text',
    description: 'Send a text with your order. You get a report on how long it is.',
    price_type: 'fixed',
    price_usd: '1.00',
  },
  work,
  onProgress: (progress) => console.log(JSON.stringify(progress)),
})

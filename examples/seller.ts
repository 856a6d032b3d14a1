import { Market } from '@market/sdk'

const { MARKET_API_URL: apiUrl = '', MARKET_API_KEY: apiKey = '' } = process.env
const title = 'The words of a text, counted'
const description = 'Send a text with your order. I count its words and deliver the number at once.'
const market = new Market({ apiUrl, apiKey })

await market.sell({
  service: { category: 'analytics', title, description, price_type: 'fixed', price_usd: '0.50' },
  work: ({ order }) => `${order.brief.split(/\s+/).length} words`,
  onProgress: (progress) => console.log(JSON.stringify(progress)),
})

import { Market } from '@market/sdk'

/** An agent with two services: texts for a price that it quotes, and short texts by the week. */

const { MARKET_API_URL: apiUrl = '', MARKET_API_KEY: apiKey = '' } = process.env
const market = new Market({ apiUrl, apiKey })
const onProgress = (progress: object) => console.log(JSON.stringify(progress))
const wordsOf = (text: string): number => text.split(/\s+/).length

await Promise.all([
  market.sell({
    service: {
      category: 'brand_content',
      title: 'Your text in capitals, priced by its length',
      description: 'Send a text. I quote 0.10 USD for each word, and write it in capitals.',
      price_type: 'quote',
    },
    onQuote: ({ order }) => ({
      price_usd: (wordsOf(order.brief) / 10 + 1).toFixed(2),
      expires_in_hours: 24,
      message: `${wordsOf(order.brief)} words and 1.00 USD for the start.`,
    }),
    work: ({ order }) => order.brief.toUpperCase(),
    onProgress,
  }),
  market.sell({
    service: {
      category: 'brand_content',
      title: 'Capitals by the week',
      description: 'Send me up to three texts in a week. I write each of them in capitals at once.',
      price_type: 'weekly',
      price_usd: '5.00',
      quota_limit: 3,
    },
    onGenerate: ({ generation }) =>
      generation.prompt.length > 1_000
        ? { failed: 'I take texts of up to 1,000 characters.' }
        : generation.prompt.toUpperCase(),
    onProgress,
  }),
])

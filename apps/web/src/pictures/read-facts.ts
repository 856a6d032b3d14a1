import { Client, MarketError } from '@market/sdk/client'
import { counted, hours, usdc } from '../app/format.ts'
import { CATEGORIES, type PriceType } from '../app/names.ts'
import type { PictureFacts } from './facts.ts'

interface FactsRequest {
  /** The route and its parameters. */
  readonly route: string
  readonly params: Readonly<Record<string, string>>
  readonly apiUrl: string
  readonly fetch: typeof fetch
}

const API_TIMEOUT_MS = 5_000

const PRICES: Readonly<Record<PriceType, string>> = {
  fixed: 'Price',
  quote: 'Price from',
  weekly: 'Price per week',
  monthly: 'Price per month',
}

const READERS: Readonly<
  Record<string, (market: Client, params: Readonly<Record<string, string>>) => Promise<PictureFacts>>
> = {
  '/picture': async (market) => {
    const { services, agents, orders_completed: completed } = await market.getPlatformStats()
    return {
      title: 'Hire an agent. Pay when the work is done.',
      otherTitle: '',
      figures: [
        ['Services', services.toLocaleString('en')],
        ['Agents', agents.toLocaleString('en')],
        ['Orders completed', completed.toLocaleString('en')],
      ],
    }
  },
  '/picture/s/:agent/:service': async (market, { agent = '', service = '' }) => {
    const found = await market.getServiceBySlug({ agent_slug: agent, service_slug: service })
    const { price_usd: price, price_type: type, avg_rating: rating } = found
    return {
      kind: 'Service',
      title: found.title,
      otherTitle: `A service in ${CATEGORIES[found.category]}`,
      by: { id: found.agent.agent_id, name: found.agent.name },
      figures: [
        price === null ? ['Price', 'By quote'] : [PRICES[type], `${usdc(price)} USDC`],
        ['Delivered within', hours(found.turnaround_hours)],
        rating === null
          ? ['Completed', counted(found.completed_orders, 'order')]
          : ['Rating', `${rating.toFixed(1)} (${found.review_count.toLocaleString('en')})`],
      ],
    }
  },
  '/picture/a/:agent': async (market, { agent: slug = '' }) => {
    const { agent, stats, services } = await market.getAgent({ agent_id: slug })
    return {
      kind: 'Agent',
      title: agent.name,
      otherTitle: 'An agent for hire',
      by: { id: agent.id, name: agent.name },
      figures: [
        ['Completed', counted(stats.completed_orders, 'order')],
        ['Rating', stats.avg_rating === null ? 'None yet' : stats.avg_rating.toFixed(1)],
        ['Services', services.length.toLocaleString('en')],
      ],
    }
  },
  '/picture/b/:bounty': async (market, { bounty: id = '' }) => {
    const bounty = await market.getBounty({ bounty_id: id })
    return {
      kind: 'Bounty',
      title: bounty.title,
      otherTitle: `A bounty in ${CATEGORIES[bounty.category]}`,
      figures: [
        ['For the agent', `${bounty.budget_usd.toFixed(2)} USDC`],
        ['To deliver within', hours(bounty.deadline_hours)],
        ['Claims', bounty.pending_claims.toLocaleString('en')],
      ],
    }
  },
}

/** The addresses of pictures, each beside the page that it stands for. */
export const PICTURE_ROUTES = Object.keys(READERS)

/** What a picture shows now, or undefined when what it stands for does not exist. */
export async function readFacts({ route, params, apiUrl, fetch }: FactsRequest) {
  const market = new Client({ apiUrl, fetch, retries: 0, timeoutMs: API_TIMEOUT_MS })
  try {
    return await READERS[route]?.(market, params)
  } catch (error) {
    if (error instanceof MarketError && [400, 404].includes(error.status)) return undefined
    throw error
  }
}

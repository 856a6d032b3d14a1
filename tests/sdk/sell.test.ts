import { createHmac } from 'node:crypto'
import { evmWallet, type Job, Market, type SellerProgress, type SellOptions } from '@market/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market as RunningMarket, startMarket } from '../support/market.ts'
import { makeAgentWithService, makeOrderIn } from '../support/order-in-state.ts'
import { makeService, SERVICE } from '../support/services.ts'
import { BASE_URL } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { makeWorkspace } from '../support/workspace.ts'

/** Sellers on the real API. Paid orders are put into their state, because no chain is needed here. */

let running: RunningMarket
beforeAll(async () => {
  running = await startMarket()
})
afterAll(() => running.stop())

const ends: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

const ENOUGH = { withinMs: 60_000 }

const marketOf = (apiKey: string, urls: string[] = []) =>
  new Market({
    apiUrl: running.url,
    apiKey,
    fetch: (url, init) => {
      urls.push(String(url).slice(running.url.length))
      return fetch(url, init)
    },
  })

/** Sells until the test ends. */
function start(market: Market, options: Omit<SellOptions, 'signal'>): void {
  const stop = new AbortController()
  const selling = market.sell({ ...options, signal: stop.signal })
  ends.push(async () => {
    stop.abort()
    await selling
  })
}

const deliveriesOf = async (market: Market, order_id: string) =>
  (await market.getOrder({ order_id })).deliveries.map(({ note, deliverables }) => [
    note,
    ...deliverables.map(({ type, content }) => `${type}: ${content}`),
  ])

const untilDelivered = (market: Market, order_id: string, count = 1) =>
  until('it is delivered', async () => (await deliveriesOf(market, order_id)).length === count, ENOUGH)

describe('sell', () => {
  test('delivers the open orders of its service at the start, and no order of another one', async () => {
    const { agent, service } = await makeAgentWithService(running)
    const other = await makeService(running, agent, { title: 'Another service' })
    const open = [
      await makeOrderIn(running, service, 'paid'),
      await makeOrderIn(running, service, 'in_progress'),
      await makeOrderIn(running, service, 'revision_requested'),
    ]
    const foreign = await makeOrderIn(running, other, 'paid')
    const market = marketOf(agent.apiKey)
    start(market, {
      service: service.id,
      work: () => ({ deliverables: [{ type: 'code', content: '1 + 1' }], note: 'Done.' }),
    })
    for (const { id } of open)
      await until(
        id,
        async () => (await market.getOrder({ order_id: id })).order.status === 'delivered',
        ENOUGH,
      )
    expect((await deliveriesOf(market, open[0]?.id ?? '')).at(-1)).toEqual(['Done.', 'code: 1 + 1'])
    expect((await market.getOrder({ order_id: foreign.id })).order.status).toBe('paid')
  })

  test('tells onError when the work throws, tries again and delivers once', async () => {
    const { agent, service } = await makeAgentWithService(running)
    const { id } = await makeOrderIn(running, service, 'paid')
    const market = marketOf(agent.apiKey)
    const errors: unknown[] = []
    let tries = 0
    start(market, {
      service: service.id,
      work: () => {
        tries++
        if (tries === 1) throw new Error('The model is busy.')
        return [{ type: 'text', content: `Try ${tries}` }]
      },
      onError: (error, order) => errors.push([String(error), order?.id]),
    })
    await untilDelivered(market, id)
    expect(errors).toEqual([['Error: The model is busy.', id]])
    expect(await deliveriesOf(market, id)).toEqual([[null, 'text: Try 2']])
  })

  test('works on a revision with what the buyer wants changed', async () => {
    const { agent, service } = await makeAgentWithService(running)
    const { id, buyer } = await makeOrderIn(running, service, 'paid')
    const market = marketOf(agent.apiKey)
    start(market, { service: service.id, work: ({ order }: Job) => order.complaint ?? 'First version' })
    await untilDelivered(market, id)
    const wallet = evmWallet({ address: buyer.address, signMessage: ({ message }) => buyer.sign(message) })
    await new Market({ apiUrl: running.url, site: BASE_URL, wallet }).actOnOrder({
      order_id: id,
      action: 'revision',
      feedback: 'Shorter, please.',
    } as never)
    await untilDelivered(market, id, 2)
    expect(await deliveriesOf(market, id)).toEqual([
      [null, 'text: First version'],
      [null, 'text: Shorter, please.'],
    ])
  })

  test('creates the service of its fields once, and uses it at the next start', async () => {
    const { agent } = await makeAgentWithService(running)
    const market = marketOf(agent.apiKey)
    const used: string[] = []
    for (let starts = 0; starts < 2; starts++) {
      const stop = new AbortController()
      await market.sell({
        service: { ...SERVICE, title: 'A service of a program' },
        work: () => 'Done',
        onProgress: (progress) => {
          if (progress.step !== 'ready') return
          used.push(progress.serviceId)
          stop.abort()
        },
        signal: stop.signal,
      })
    }
    expect([used.length, new Set(used).size]).toEqual([2, 1])
  })

  test('follows events after the newest one instead of reading all of them again', async () => {
    const { agent, service } = await makeAgentWithService(running)
    for (let orders = 0; orders < 5; orders++) await makeOrderIn(running, service, 'cancelled')
    const urls: string[] = []
    start(marketOf(agent.apiKey, urls), { service: service.id, work: () => 'Done' })
    await until('it follows', () => urls.some((url) => url.startsWith('/api/events/stream')), ENOUGH)
    const { data } = await marketOf(agent.apiKey).listEvents()
    expect(data.length).toBeGreaterThanOrEqual(5)
    expect(urls.find((url) => url.startsWith('/api/events/stream'))).toContain(`after=${data.at(-1)?.cursor}`)
  })

  test('rejects when the API key is wrong', async () => {
    const selling = marketOf('market_wrong').sell({ service: SERVICE, work: () => 'Done' })
    await expect(selling).rejects.toMatchObject({ status: 401 })
  })
})

describe('sell: quotes', () => {
  const quoteService = async () => {
    const agent = await makeOwnedAgent(running)
    return {
      agent,
      service: await makeService(running, agent, { price_type: 'quote', price_usd: undefined }),
    }
  }
  const statusOf = async (market: Market, order_id: string) => (await market.getOrder({ order_id })).order
  const untilIn = (market: Market, id: string, status: string) =>
    until(status, async () => (await statusOf(market, id)).status === status, ENOUGH)

  test('quotes the orders that wait at the start and new ones, once each, and delivers what is paid', async () => {
    const { agent, service } = await quoteService()
    const waiting = await makeOrderIn(running, service, 'pending_quote')
    const market = marketOf(agent.apiKey)
    const asked: string[] = []
    const steps: SellerProgress[] = []
    start(market, {
      service: service.id,
      onQuote: ({ order }) => {
        asked.push(order.id)
        return { price_usd: '12.50', expires_in_hours: 24, message: 'Two days of work.' }
      },
      work: () => 'Done',
      onProgress: (step) => steps.push(step),
    })
    await untilIn(market, waiting.id, 'quoted')
    expect(await statusOf(market, waiting.id)).toMatchObject({
      price_usd: '12.50',
      quote_message: 'Two days of work.',
    })
    const later = await makeOrderIn(running, service, 'pending_quote')
    await untilIn(market, later.id, 'quoted')
    expect(asked).toEqual([waiting.id, later.id])
    expect(steps).toContainEqual({ step: 'quoted', orderId: later.id, priceUsd: '12.50' })
  })

  test('a program that is started again does not quote twice, and one that ended while it quoted does', async () => {
    const { agent, service } = await quoteService()
    const { id } = await makeOrderIn(running, service, 'pending_quote')
    const market = marketOf(agent.apiKey)
    const crashed = new AbortController()
    let asked = 0
    await market.sell({
      service: service.id,
      onQuote: () => {
        asked++
        crashed.abort()
        throw new Error('The program ends.')
      },
      work: () => 'Done',
      signal: crashed.signal,
    })
    expect((await statusOf(market, id)).status).toBe('pending_quote')
    for (let starts = 0; starts < 2; starts++) {
      const stop = new AbortController()
      const selling = market.sell({
        service: service.id,
        onQuote: () => {
          asked++
          return '3.00'
        },
        work: () => 'Done',
        signal: stop.signal,
      })
      await untilIn(market, id, 'quoted')
      stop.abort()
      await selling
    }
    expect([asked, (await statusOf(market, id)).price_usd]).toEqual([2, '3.00'])
  })

  test('undefined quotes nothing, and a price that the API rejects is reported', async () => {
    const { agent, service } = await quoteService()
    const [silent, wrong] = [
      await makeOrderIn(running, service, 'pending_quote'),
      await makeOrderIn(running, service, 'pending_quote'),
    ]
    const market = marketOf(agent.apiKey)
    const asked: string[] = []
    const errors: unknown[] = []
    const stop = new AbortController()
    const seller = market.seller({
      service: service.id,
      secret: 'whsec_of_a_test',
      onQuote: ({ order }) => {
        asked.push(order.id)
        return order.id === silent.id ? undefined : 'free'
      },
      work: () => 'Done',
      onError: (error, order) => errors.push([(error as { code?: string }).code, order?.id]),
      signal: stop.signal,
    })
    await seller.settled()
    stop.abort()
    expect(asked.toSorted()).toEqual([silent.id, wrong.id].toSorted())
    expect(errors).toEqual([['invalid_input', wrong.id]])
    expect((await statusOf(market, silent.id)).status).toBe('pending_quote')
  })
})

describe('sell: workspaces', () => {
  const generationsOf = async (market: Market, order_id: string) => {
    const { data } = await market.listGenerations({ order_id })
    return data.map(({ prompt, status, deliverable, failure }) => [
      prompt,
      status,
      deliverable?.content ?? failure,
    ])
  }

  test('answers what was requested before the start and afterwards, once each, or says why not', async () => {
    const { id, agent, service, generate } = await makeWorkspace(running)
    const market = marketOf(agent.apiKey)
    await generate({ prompt: 'before' })
    const steps: SellerProgress[] = []
    start(market, {
      service: service.id,
      onGenerate: ({ order, generation: { prompt } }) => {
        expect(order.id).toBe(id)
        return prompt === 'rude' ? { failed: 'I do not draw this.' } : prompt.toUpperCase()
      },
      onProgress: (step) => steps.push(step),
    })
    const { body } = await generate({ prompt: 'after', wait_seconds: 25 })
    expect(body.data.deliverable).toMatchObject({ status: 'completed', deliverable: { content: 'AFTER' } })
    await generate({ prompt: 'rude', wait_seconds: 25 })
    expect(await generationsOf(market, id)).toEqual([
      ['rude', 'failed', 'I do not draw this.'],
      ['after', 'completed', 'AFTER'],
      ['before', 'completed', 'BEFORE'],
    ])
    const made = steps.flatMap((step) => (step.step === 'generated' ? [step.deliverableId] : []))
    expect([made.length, new Set(made).size]).toEqual([3, 3])
  })

  test('repeats a request when onGenerate throws, and not when only the answer failed', async () => {
    const { id, agent, service, generate } = await makeWorkspace(running)
    let answers = 0
    const market = new Market({
      apiUrl: running.url,
      apiKey: agent.apiKey,
      retries: 0,
      fetch: async (url, init) => {
        const answer = init?.method === 'PUT' ? ++answers : undefined
        // The first answer does not arrive. The second one does, but its response is lost.
        if (answer === 1) throw new TypeError('The connection failed.')
        const response = await fetch(url, init)
        if (answer === 2) throw new TypeError('The connection was lost.')
        return response
      },
    })
    let tries = 0
    const errors: string[] = []
    start(market, {
      service: service.id,
      onGenerate: () => {
        tries++
        if (tries === 1) throw new Error('The model is busy.')
        return `Try ${tries}`
      },
      onError: (error) => errors.push(error instanceof Error ? error.message : ''),
    })
    await generate({ prompt: 'a square', wait_seconds: 25 })
    await until('the lost answer is noticed', () => errors.length === 3, ENOUGH)
    expect(await generationsOf(market, id)).toEqual([['a square', 'completed', 'Try 2']])
    expect([tries, errors[0]]).toEqual([2, 'The model is busy.'])
  })

  test('without work and onGenerate it throws at once', async () => {
    const market = marketOf('market_x')
    await expect(market.sell({ service: 'svc_1' })).rejects.toThrow('Pass work')
  })
})

describe('seller with webhooks', () => {
  const SECRET = 'whsec_of_a_test'

  function webhook(orderId: string, secret = SECRET): Request {
    const data = { status: 'paid', service_title: SERVICE.title }
    const body = JSON.stringify({ event: 'order.paid', order_id: orderId, data })
    const time = Math.round(Date.now() / 1_000)
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
    const headers = { 'x-market-signature': `t=${time},v1=${signature}` }
    return new Request('https://seller.example/', { method: 'POST', headers, body })
  }

  test('responds 204 before the work is done, delivers afterwards, and once for a repeated webhook', async () => {
    const { agent, service } = await makeAgentWithService(running)
    const market = marketOf(agent.apiKey)
    let finish: () => void = () => undefined
    const gate = new Promise<void>((resolve) => {
      finish = resolve
    })
    const stop = new AbortController()
    const seller = market.seller({
      service: service.id,
      secret: SECRET,
      signal: stop.signal,
      work: () => gate.then(() => 'Done'),
    })
    await seller.settled()
    const { id } = await makeOrderIn(running, service, 'paid')
    expect((await seller.fetch(webhook(id))).status).toBe(204)
    expect((await seller.fetch(webhook(id))).status).toBe(204)
    expect(await deliveriesOf(market, id)).toEqual([])
    finish()
    await untilDelivered(market, id)
    await seller.settled()
    expect(await deliveriesOf(market, id)).toHaveLength(1)
    stop.abort()
  })

  test('delivers orders of which no webhook came', async () => {
    const { agent, service } = await makeAgentWithService(running)
    const { id } = await makeOrderIn(running, service, 'paid')
    const market = marketOf(agent.apiKey)
    const stop = new AbortController()
    market.seller({ service: service.id, secret: SECRET, signal: stop.signal, work: () => 'Done' })
    await untilDelivered(market, id)
    stop.abort()
  })

  test('rejects another signature with 401 and another method with 405', async () => {
    const { agent, service } = await makeAgentWithService(running)
    const stop = new AbortController()
    const seller = marketOf(agent.apiKey).seller({
      service: service.id,
      secret: SECRET,
      signal: stop.signal,
      work: () => 'Done',
    })
    expect((await seller.fetch(webhook('ord_1', 'another'))).status).toBe(401)
    expect((await seller.fetch(new Request('https://seller.example/'))).status).toBe(405)
    stop.abort()
  })
})

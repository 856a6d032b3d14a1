import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { evmPayer, Market } from '@market/sdk'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { CHILD_ENVIRONMENT } from '../support/child-environment.ts'
import { someName } from '../support/makers.ts'
import { until } from '../support/until.ts'
import type { Dev } from './dev-process.ts'

let dev: Dev
let folder: string
const kills: (() => Promise<void>)[] = []

const ENOUGH = { withinMs: 60_000, everyMs: 100 }
const pathOf = (file: string) => fileURLToPath(new URL(`../../${file}`, import.meta.url))

async function control(path: string, body: object): Promise<Readonly<Record<string, string>>> {
  const reply = await dev.control(path, body)
  expect(reply).toMatchObject({ status: 200 })
  return reply.body
}

/** An agent that can be paid on Base and is listed. */
async function newAgent() {
  // From an address of its own: the guides register agents from this machine's address, which may do so 5 times an hour.
  const { body } = await dev.api().post('/api/agents/register', {
    name: someName(),
    description: 'Counts the words of texts.',
  })
  const { agent_id, api_key } = body.data
  const market = new Market({ apiUrl: dev.at.api, apiKey: api_key })
  const { address = '' } = await control('/wallets', { network: 'base-mainnet' })
  await market.updateMyAgent({ payout_address_base: address })
  const { access_token = '' } = await control('/idp/token', { email: `${agent_id}@example.com` })
  await new Market({ apiUrl: dev.at.api, token: access_token }).linkAgent({ api_key })
  return { id: agent_id, market, env: { MARKET_API_URL: dev.at.api, MARKET_API_KEY: api_key } }
}

/** A wallet with USDC on Base. */
async function newBuyer(usdc: string) {
  const { address = '', private_key = '' } = await control('/wallets', { network: 'base-mainnet', usdc })
  return { address, key: private_key as Hex }
}

type Settings = Readonly<Record<string, string>>

function startProgram(file: string, env: Settings) {
  const child = spawn(process.execPath, [pathOf(file)], { env: { ...CHILD_ENVIRONMENT, ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk
    })
  const ended = once(child, 'close')
  const steps = () => output.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
  const program = {
    output: () => output,
    /** What it wrote of this step. */
    step: async (name: string): Promise<Settings> => {
      const find = () => steps().find(({ step }) => step === name)
      await until(`${file} wrote ${name}; it wrote: ${output}`, () => find() !== undefined, ENOUGH)
      return find()
    },
    steps: (name: string): number => steps().filter(({ step }) => step === name).length,
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
  kills.push(program.kill)
  return program
}

const runProgram = (file: string, env: Settings) =>
  promisify(execFile)(process.execPath, [pathOf(file)], { env: { ...CHILD_ENVIRONMENT, ...env } })

/** The payout of an order as its seller sees it. */
const isPaidOut = async (market: Market, order_id: string): Promise<boolean> =>
  (await market.getOrder({ order_id })).payout?.status === 'sent'

const lineCount = (file: string): number =>
  readFileSync(pathOf(file), 'utf8')
    .split('\n')
    .filter((line) => line.trim() !== '').length

/** Tests of the examples as processes on a running marketplace, and of sellers that are killed while they work. */
export function describeExamples(running: () => Dev): void {
  describe('examples', () => {
    beforeAll(() => {
      dev = running()
      folder = mkdtempSync(join(tmpdir(), 'examples-'))
    })
    afterEach(async () => {
      await Promise.all(kills.splice(0).map((kill) => kill()))
    })
    afterAll(() => rmSync(folder, { recursive: true, force: true }))

    test.each([
      ['examples/seller.ts', 12],
      ['examples/buyer.ts', 8],
      ['examples/reseller.ts', 80],
      ['examples/studio.ts', 40],
    ])('%s has at most %i lines that are not empty', (file, most) => {
      expect(lineCount(file)).toBeLessThanOrEqual(most)
    })

    test('seller.ts delivers what buyer.ts buys by x402, and is paid on chain', async () => {
      const agent = await newAgent()
      const seller = startProgram('examples/seller.ts', agent.env)
      const { serviceId = '' } = await seller.step('ready')
      const { key } = await newBuyer('0.55')
      const env = { MARKET_API_URL: dev.at.api, SERVICE_ID: serviceId, BUYER_KEY: key }
      const { stdout } = await runProgram('examples/buyer.ts', env)
      expect(stdout).toBe('5 words\n')
      const { orderId = '' } = await seller.step('delivered')
      await until('the payout is sent', () => isPaidOut(agent.market, orderId), ENOUGH)
    })

    test('reseller.ts hires seller.ts for its own order, and both are paid on chain', async () => {
      const [first, second] = [await newAgent(), await newAgent()]
      const seller = startProgram('examples/seller.ts', first.env)
      const { serviceId = '' } = await seller.step('ready')
      const spending = await newBuyer('0.55')
      const reseller = startProgram('examples/reseller.ts', {
        ...second.env,
        SERVICE_ID: serviceId,
        BUYER_KEY: spending.key,
      })
      const { serviceId: resold = '' } = await reseller.step('ready')
      const buyer = await newBuyer('1.10')
      const { order, deliverables } = await new Market({ apiUrl: dev.at.api }).hire({
        service: resold,
        brief: 'How long is this text?',
        payer: evmPayer(privateKeyToAccount(buyer.key)),
        maxUsd: '1.10',
      })
      expect(deliverables[0]?.content).toBe('Report on your text: 5 words')
      const { orderId = '' } = await seller.step('delivered')
      await until('the first is paid', () => isPaidOut(first.market, orderId), ENOUGH)
      await until('the second is paid', () => isPaidOut(second.market, order.id), ENOUGH)
    })

    test('studio.ts quotes an order and delivers it, and answers the requests of a weekly workspace', async () => {
      const agent = await newAgent()
      const studio = startProgram('examples/studio.ts', agent.env)
      await until('both services are ready', () => studio.steps('ready') === 2, ENOUGH)
      const buyer = await newBuyer('20')
      const { access_token: token = '' } = await control('/idp/token', {
        email: `buyer-of-${agent.id}@example.com`,
        wallets: [buyer.address],
      })
      const market = new Market({ apiUrl: dev.at.api, token })
      await market.signIn()
      const { data: services } = await market.listAgentServices({ agent_id: agent.id })
      const idOf = (type: string) => services.find(({ price_type }) => price_type === type)?.id ?? ''
      const statusIs = (order_id: string, wanted: string) =>
        until(wanted, async () => (await market.getOrder({ order_id })).order.status === wanted, ENOUGH)
      const pay = async (order_id: string) => {
        const { order } = await market.getOrder({ order_id })
        const way = order.payment?.find(({ network }) => network === 'base-mainnet')
        const transfer = { network: 'base-mainnet', to: way?.pay_to, amount_usd: order.price_usd }
        const { tx = '' } = await control('/transfer', { ...transfer, from: buyer.address })
        await market.actOnOrder({ order_id, action: 'pay', escrow_tx_hash: tx })
      }

      const quoted = await market.createOrder({ service_id: idOf('quote'), brief: 'three small words' })
      await statusIs(quoted.id, 'quoted')
      expect(await studio.step('quoted')).toMatchObject({ orderId: quoted.id, priceUsd: '1.30' })
      await pay(quoted.id)
      await statusIs(quoted.id, 'delivered')
      const { deliverables } = await market.getOrder({ order_id: quoted.id })
      expect(deliverables[0]?.content).toBe('THREE SMALL WORDS')

      const week = await market.createOrder({ service_id: idOf('weekly') })
      await pay(week.id)
      await statusIs(week.id, 'in_progress')
      const ask = async (prompt: string) =>
        (await market.generate({ order_id: week.id, prompt, wait_seconds: 25 })).deliverable
      expect(await ask('loud')).toMatchObject({ status: 'completed', deliverable: { content: 'LOUD' } })
      expect(await ask('x'.repeat(1_001))).toMatchObject({ status: 'failed' })
      await studio.kill()
      const waiting = await market.generate({ order_id: week.id, prompt: 'after a restart' })
      expect(waiting.deliverable.status).toBe('pending')
      startProgram('examples/studio.ts', agent.env)
      const newest = async () => (await market.listGenerations({ order_id: week.id, limit: 1 })).data[0]
      await until('it is answered', async () => (await newest())?.status === 'completed', ENOUGH)
      expect((await newest())?.deliverable?.content).toBe('AFTER A RESTART')
    })

    describe('a seller that is killed while it works', () => {
      let port = 0

      /** Settings of a seller of a new agent, with webhooks or with the stream. */
      async function newSeller(way: string) {
        const agent = await newAgent()
        const { id: SERVICE_ID } = await agent.market.createService({
          agent_id: agent.id,
          category: 'custom',
          title: 'Work that takes a while',
          description: 'The work is done when a file exists, which a test creates.',
          price_type: 'fixed',
          price_usd: '1.00',
        })
        const env = { ...agent.env, SERVICE_ID, END_FILE: join(folder, SERVICE_ID) }
        if (way === 'stream') return { agent, env }
        port ||= Number(new URL(dev.at.control).port) + 200
        const to = `http://127.0.0.1:${port}/`
        const { webhook_secret: SECRET = '' } = await control('/webhooks/forward', { agent: agent.id, to })
        return { agent, env: { ...env, SECRET, PORT: String(port) } }
      }

      test.each(['stream', 'webhooks'])('with %s: delivers the order once after a restart', async (way) => {
        const { agent, env } = await newSeller(way)
        const first = startProgram('tests/journeys/blocking-seller.ts', env)
        await first.step('ready')
        const buyer = await newBuyer('1.10')
        const hiring = new Market({ apiUrl: dev.at.api }).hire({
          service: env.SERVICE_ID,
          brief: 'Survive a crash.',
          payer: evmPayer(privateKeyToAccount(buyer.key)),
          maxUsd: '1.10',
        })
        const { orderId = '' } = await first.step('working')
        if (way === 'webhooks') await first.step('responded')
        await first.kill()
        writeFileSync(env.END_FILE, '')
        const second = startProgram('tests/journeys/blocking-seller.ts', env)
        const { order } = await hiring
        expect(order.id).toBe(orderId)
        await second.step('delivered')
        expect(first.steps('delivered')).toBe(0)
        const third = startProgram('tests/journeys/blocking-seller.ts', {
          ...env,
          // A seller that is started later finds nothing to do.
          ...(way === 'webhooks' && { PORT: String(port + 1) }),
        })
        await third.step('ready')
        await until('it is paid', () => isPaidOut(agent.market, orderId), ENOUGH)
        const { deliveries } = await agent.market.getOrder({ order_id: orderId })
        expect(deliveries).toHaveLength(1)
        expect([second.steps('working'), third.steps('working')]).toEqual([1, 0])
      })
    })
  })
}

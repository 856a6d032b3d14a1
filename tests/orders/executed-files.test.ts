import { readFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { payoutAdvancer } from '@market/jobs/advance-payouts'
import { payoutKinds } from '@market/jobs/payout-kinds'
import { feeAddressesOf } from '@market/platform/settings/chains'
import { createLogger } from '@market/platform/telemetry/logger'
import { marketContext } from '@market/testing/market-context'
import { readConfig } from '@market/worker/config'
import { capsFrom, screeningsFrom } from '@market/worker/payout-limits'
import { openPayoutSenders } from '@market/worker/payout-senders'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FINALITY } from '../chains/evm-world.ts'
import { follow } from '../support/follow.ts'
import { makeOwnedAgent, signed } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { BRIEF } from '../support/orders.ts'
import { DEVELOPMENT } from '../support/processes.ts'
import { makeService } from '../support/services.ts'
import { BASE_URL, WALLET_SEAL } from '../support/settings.ts'
import { until } from '../support/until.ts'

/** It may only fall. `docs/architecture/walkthrough.md` has the same number. */
const MOST_FILES = 199
/** Timers of the API can run meanwhile. */
const OF_TIMERS = 3

const NETWORK = 'base-mainnet'
const FLOAT = 1_000_000_000n
const PRICE = 25_000_000n

const start = () => startMarket({}, { chains: [NETWORK], float: FLOAT })
let market: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  market = await start()
})
afterAll(() => market.stop())

const SOURCE = /\/((?:packages|apps)\/(?!testing\/)[\w-]+\/src\/[^?]+\.ts)/

/** The source files of which a function is called during the work. A function without a name may be an export as Vitest writes it. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  session.disconnect()
  const called = result.filter(({ functions }) =>
    functions.some(({ functionName, ranges }) => functionName !== '' && ranges[0]?.count !== 0),
  )
  return called.flatMap(({ url }) => SOURCE.exec(url)?.[1] ?? [])
}

/** What a worker does for payouts, without its sweeps for everything else. */
async function startPayouts() {
  const config = readConfig({
    ...DEVELOPMENT,
    BASE_URL,
    ...WALLET_SEAL.worker,
    ...market.workerEnvironment(),
  })
  const log = createLogger({ level: 'warn', name: 'test' })
  const networks = await openPayoutSenders(config, log)
  const ctx = { ...marketContext({ db: market.db }), ...networks }
  const settings = {
    caps: capsFrom(config),
    feeAddresses: feeAddressesOf(config),
    screenings: screeningsFrom(config),
  }
  const payouts = payoutAdvancer(
    { ...ctx, ...settings, payoutKinds: payoutKinds(networks.venues) },
    log,
    () => {},
  )
  return {
    advance: async () => {
      await follow(ctx, NETWORK)
      await payouts.run()
      await payouts.submit()
    },
    stop: async () => {
      await payouts.stop()
      networks.stop()
    },
  }
}

/** An order whose buyer has sent the money. */
async function sendPayment() {
  const { chain, treasury } = market.chains[NETWORK]
  const seller = await makeOwnedAgent(market)
  const service = await makeService(market, seller, { price_usd: '25.00' })
  const account = privateKeyToAccount(generatePrivateKey())
  const buyer = { address: account.address, sign: (message: string) => account.signMessage({ message }) }
  await chain.fund(account.address)
  await chain.mint(account.address, PRICE)
  const proof = await signed(buyer, `orders.create:${service.id}`)
  const { body } = await market
    .client()
    .post('/api/orders', { service_id: service.id, brief: BRIEF, ...proof })
  const id = body.data.id as string
  const path = `/api/orders/${id}`
  const escrow_tx_hash = await chain.transfer(account, treasury, PRICE)
  await chain.mine(FINALITY)
  const act = async (action: string, more: Record<string, unknown> = {}) => {
    const proof = await signed(buyer, `orders.${action}:${id}`)
    return (await market.client().patch(path, { action, ...more, ...proof })).body.data?.status as string
  }
  return {
    pay: () => act('pay', { escrow_tx_hash, payment_network: NETWORK }),
    deliver: () =>
      market
        .client()
        .post(`${path}/deliver`, { deliverable_url: 'https://hooks.example/x' }, { bearer: seller.apiKey }),
    approve: () => act('approve'),
    isPaidOut: async () => {
      const payout = market.db.selectFrom('payouts').select('state').where('subject', '=', id)
      return (await payout.executeTakeFirst())?.state === 'final'
    },
  }
}

test(`pay, approve and payout: call functions of at most ${MOST_FILES} source files`, async () => {
  const worker = await startPayouts()
  const order = await sendPayment()
  const whenPaid = await filesOf(async () => expect(await order.pay()).toBe('paid'))
  await order.deliver()
  const whenApproved = await filesOf(async () => expect(await order.approve()).toBe('completed'))
  const whenPaidOut = await filesOf(() =>
    until(
      'paid out',
      async () => {
        await market.chains[NETWORK].chain.mine(FINALITY)
        await worker.advance()
        return order.isPaidOut()
      },
      { withinMs: 120_000, everyMs: 20 },
    ),
  )
  await worker.stop()
  const files = new Set([...whenPaid, ...whenApproved, ...whenPaidOut])
  expect(whenPaid).toContain('packages/trade/src/orders/payment/order-purpose.ts')
  expect(whenPaidOut).toContain('packages/money/src/payouts/end-payout.ts')
  expect(files.size, [...files].toSorted().join('\n')).toBeLessThanOrEqual(MOST_FILES + OF_TIMERS)
})

test('the walkthrough prints this number', () => {
  expect(readFileSync('docs/architecture/walkthrough.md', 'utf8')).toContain(
    `functions of ${MOST_FILES} source files`,
  )
})

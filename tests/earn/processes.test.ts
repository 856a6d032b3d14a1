import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../support/payout-random.ts'
import { until } from '../support/until.ts'
import {
  type Depositor,
  enterAll,
  expectWhole,
  type ProcessWorld,
  START,
  startProcesses,
  USD,
  untilActive,
  untilPaid,
} from './process-world.ts'

/** Another seed kills at other moments. */
const SEED = Number(process.env['SEED'] ?? 1)
const random = seededRandom(SEED)
/** Longer than most steps of a deposit or a withdrawal take. */
const MOMENT_MS = 1_500
const KILLS = 3

let world: ProcessWorld
beforeAll(async () => {
  world = await startProcesses()
})
afterAll(() => world?.stop())

/** All shares of a depositor are paid, and at most one micro-dollar is lost by rounding. */
async function expectLeft(depositor: Depositor): Promise<void> {
  await untilPaid(depositor)
  const lost = START - (await depositor.balance())
  expect([0n, 1n]).toContain(lost)
  expect((await depositor.positions()).data).toEqual([])
}

/** Kills every worker without a signal that it could handle, at random moments, and starts another one each time. */
async function killWorkers(times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await wait(random() * MOMENT_MS)
    await Promise.all(world.workers.splice(0).map((worker) => worker.stop()))
    await world.addWorker()
  }
}

test('the market and its pool are listed with the treasury that takes deposits', async () => {
  const isRead = async () => (await world.market.client().get('/api/earn/pool/pools')).body.data?.length === 1
  await until('the worker has read the venue', isRead)
  const { body } = await world.market.client().get('/api/earn/pool/markets')
  expect(body.data).toMatchObject({
    treasury_wallet: world.treasury,
    markets: [{ key: 'test:usdc', network: 'base-mainnet', depositable: true, paused: false }],
  })
  const { body: pools } = await world.market.client().get('/api/earn/pool/pools')
  expect(pools.data).toMatchObject([{ key: 'test:usdc', total_shares: '0.000000000000', nav_usd: '0.00' }])
})

test('an agent, a user and a wallet: each deposit gets shares, and each withdrawal pays the wallet once', async () => {
  const kinds = ['agent', 'user', 'wallet'] as const
  const depositors = await enterAll(world, kinds, 100n)
  for (const depositor of depositors) {
    const { data, deposits } = await depositor.positions()
    expect(data).toMatchObject([{ key: 'test:usdc', principal_usd: '100.00', value_usd: '100.00' }])
    expect(deposits).toMatchObject([{ status: 'active', shares: data[0].shares }])
    expect(await depositor.balance()).toBe(START - 100n * USD)
  }
  const [first, ...others] = depositors
  const alone = await first?.withdraw()
  expect([alone?.status, alone?.body.data?.status]).toEqual([200, 'settled'])
  const replies = [alone, ...(await Promise.all(others.map((one) => one.withdraw())))]
  for (const [n, reply] of replies.entries()) {
    expect(reply?.status).toBe(200)
    // The money of the first may be on its way from the venue, where it is not counted.
    expect(['settled', 'queued']).toContain(reply?.body.data.status)
    expect(reply?.body.data.destination_wallet).toBe(depositors[n]?.account.address)
  }
  await Promise.all(depositors.map(expectLeft))
  await expectWhole(world)
})

test('a withdrawal waits while the money is lent out, and is paid after it is repaid', async () => {
  const [depositor] = await enterAll(world, ['agent'] as const, 100n)
  if (depositor === undefined) throw new Error('nobody entered')
  await world.vault.borrow(95n * USD)
  const { status, body } = await depositor.withdraw()
  expect([status, body.data?.status]).toEqual([200, 'queued'])
  expect((await depositor.positions()).data).toEqual([])
  await world.vault.repay(95n * USD, 0n)
  await expectLeft(depositor)
  await expectWhole(world)
})

test(`a worker that is killed ${KILLS} times during a deposit and a withdrawal, seed ${SEED}: shares and money come once`, async () => {
  const depositor = await world.newDepositor('user')
  await depositor.register(await depositor.send(100n * USD), 100n)
  await killWorkers(KILLS)
  await untilActive(depositor)
  expect(await depositor.balance()).toBe(START - 100n * USD)
  expect((await depositor.positions()).data).toMatchObject([{ principal_usd: '100.00' }])
  await expectWhole(world)

  const [reply] = await Promise.all([depositor.withdraw(), killWorkers(KILLS)])
  expect([200, 202]).toContain(reply.status)
  await expectLeft(depositor)
  await expectWhole(world)
})

test('two workers at once: each of four deposits gets its shares once, and each withdrawal is paid once', async () => {
  await world.addWorker()
  const kinds = ['agent', 'user', 'wallet'] as const
  const depositors = await enterAll(world, ['agent', ...kinds], 100n)
  await expectWhole(world)
  const replies = await Promise.all(depositors.map((one) => one.withdraw()))
  for (const { status } of replies) expect([200, 202]).toContain(status)
  await Promise.all(depositors.map(expectLeft))
  await expectWhole(world)
})

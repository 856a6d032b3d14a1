import { SECOND } from '@market/kernel/clock'
import { authorizationOf, authorizationTypedData } from '@market/testing/evm-usdc'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { FREQUENT_SWEEPS, SHORT_WAIT } from '../support/settings.ts'
import { until } from '../support/until.ts'
import { encodePayment, opened } from './crafted-payments.ts'
import { DUE, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

let world: PurchaseWorld
/** For payments that are not mined. */
let api: Awaited<ReturnType<PurchaseWorld['market']['startApi']>>
let serviceId: string
beforeAll(async () => {
  world = await startPurchaseWorld()
  api = await world.market.startApi(SHORT_WAIT)
  serviceId = (await world.newSeller()).serviceId
})
afterAll(() => world.stop())

/** Long enough for a busy machine to submit the payment. */
const VALID_SECONDS = 60

test('nonce gap: a dropped and expired settlement still uses its nonce, so that later ones are mined', async () => {
  const { chain, treasury, gas } = world.base
  const buyer = await world.places['base-mainnet'].newBuyer()
  const told = opened(await world.signPayment(serviceId, buyer))
  const validBefore = BigInt(Math.floor(Date.now() / 1_000) + VALID_SECONDS)
  const authorization = authorizationOf(buyer.account.address, treasury, DUE, validBefore)
  const signature = await buyer.account.signTypedData(
    authorizationTypedData(chain.chainId, chain.usdc, authorization),
  )
  const asText = Object.fromEntries(
    Object.entries(authorization).map(([name, value]) => [name, String(value)]),
  )
  const payment = encodePayment({ ...told, payload: { signature, authorization: asText } })

  await chain.automine(false)
  const hire = async () => (await world.buyWithSignature(serviceId, payment, { api })).status
  expect(await hire()).toBe(202)
  const { reference } = await world.market.db
    .selectFrom('purchases')
    .selectAll()
    .where('payer', '=', buyer.address.toLowerCase())
    .executeTakeFirstOrThrow()
  await chain.rpc('anvil_dropTransaction', [reference])
  await chain.rpc('evm_increaseTime', [VALID_SECONDS])
  await world.market.advance(VALID_SECONDS * SECOND)
  await chain.mine(20)
  await chain.automine(true)
  await until('it is void', async () => (await hire()) === 402, {
    withinMs: 40_000,
    everyMs: 500,
  })

  const worker = await world.market.startWorker(FREQUENT_SWEEPS)
  try {
    const mined = async () => Number(await chain.rpc('eth_getTransactionCount', [gas, 'latest']))
    await until('its number is used', async () => (await mined()) > 0, { withinMs: 30_000, everyMs: 200 })
    expect((await world.buyWithSignature(serviceId, await world.signPayment(serviceId, buyer))).status).toBe(
      200,
    )
  } finally {
    await worker.stop()
  }
})

test('fee bump: the worker replaces settlements below the base fee, and the buyers get their orders', async () => {
  const { chain, gasKey } = world.base
  const { newBuyer } = world.places['base-mainnet']
  const payments = [
    await world.signPayment(serviceId, await newBuyer()),
    await world.signPayment(serviceId, await newBuyer()),
  ]
  await chain.automine(false)
  const hire = async () =>
    Promise.all(payments.map(async (one) => (await world.buyWithSignature(serviceId, one, { api })).status))
  expect(await hire()).toEqual([202, 202])
  const head = (await chain.rpc('eth_getBlockByNumber', ['latest', false])) as { baseFeePerGas: string }
  await chain.rpc('anvil_setNextBlockBaseFeePerGas', [`0x${(BigInt(head.baseFeePerGas) * 6n).toString(16)}`])
  await chain.mine(1)
  await chain.automine(true)

  const worker = await world.market.startWorker({ ...FREQUENT_SWEEPS, BASE_GAS_KEY: gasKey })
  try {
    await until(
      'both have what they paid for',
      async () => (await hire()).every((status) => status === 200),
      {
        withinMs: 60_000,
        everyMs: 500,
      },
    )
    const figures = async () => (await fetch(`${worker.url}/metrics`)).text()
    await until('the worker has measured the gas account', async () =>
      /market_gas_settlements_left\{network="base-mainnet"\} [1-9]/.test(await figures()),
    )
  } finally {
    await worker.stop()
  }
})

import { urlOfRole } from '@market/database/roles'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { backUp } from '../support/backup.ts'
import { FREQUENT_SWEEPS, SHORT_WAIT } from '../support/settings.ts'
import { until } from '../support/until.ts'
import type { Buyer } from './buyers.ts'
import { DUE, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** Settlements whose transaction the database has lost, or the chain has dropped. */

const LONG = { withinMs: 40_000, everyMs: 300 }

let world: PurchaseWorld
let serviceId: string
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
})
afterAll(() => world.stop())

const sentByGasAccount = async () =>
  Number(await world.base.chain.rpc('eth_getTransactionCount', [world.base.gas, 'latest']))

/**
 * The first buyer's payment waits for a block when the database is put back to a time before it. Then the second buyer pays with
 * the restored database. Both transactions have the same nonce.
 */
async function payAcrossRestore() {
  const { market, base, places, signPayment, buyWithSignature } = world
  const [lost, next] = [await places['base-mainnet'].newBuyer(), await places['base-mainnet'].newBuyer()]
  const [lostPayment, payment] = [await signPayment(serviceId, lost), await signPayment(serviceId, next)]
  const before = await sentByGasAccount()
  const restore = await backUp(market.database.url)
  await base.chain.automine(false)
  onTestFinished(() => base.chain.automine(true))
  const waiting = await buyWithSignature(serviceId, lostPayment, { api: await market.startApi(SHORT_WAIT) })
  expect(waiting.status).toBe(202)
  const { reference } = await market.db
    .selectFrom('purchases')
    .select('reference')
    .where('payer', '=', lost.address.toLowerCase())
    .executeTakeFirstOrThrow()

  const { url, stop } = await restore()
  onTestFinished(stop)
  const api = await market.startApi({ ...SHORT_WAIT, DATABASE_URL: urlOfRole(url, 'api') })
  const buy = async () => (await buyWithSignature(serviceId, payment, { api })).status
  expect(await buy()).toBe(202)
  return { lost, next, reference, buy, sent: async () => (await sentByGasAccount()) - before }
}

const RICH = 1_000_000_000n
const hasPaid = async (buyer: Buyer, due: bigint) => expect(await buyer.usdc()).toBe(RICH - due)

test('restore: of two settlements with one nonce the other is signed again, once, and its buyer has the order', async () => {
  const { lost, next, buy, sent } = await payAcrossRestore()
  await world.base.chain.automine(true)
  await world.base.chain.mine(1)
  const isBought = async () => (await Promise.all([buy(), buy(), buy()])).every((status) => status === 200)
  await until('the second buyer has the order', isBought, LONG)
  expect(await sent()).toBe(2)
  await hasPaid(lost, DUE)
  await hasPaid(next, DUE)
})

test('restore: a lost settlement that the nodes drop leaves no gap before the next one', async () => {
  const { lost, next, reference, buy, sent } = await payAcrossRestore()
  await world.base.chain.rpc('anvil_dropTransaction', [reference])
  await world.base.chain.automine(true)
  await until('the second buyer has the order', async () => (await buy()) === 200, LONG)
  expect(await sent()).toBe(1)
  await hasPaid(lost, 0n)
  await hasPaid(next, DUE)
})

test('reorganization: a worker without a gas key sends a dropped settlement again, and the order stays paid', async () => {
  const { chain } = world.base
  const buyer = await world.places['base-mainnet'].newBuyer()
  const bought = await world.buyWithSignature(serviceId, await world.signPayment(serviceId, buyer))
  expect(bought.status).toBe(200)
  await chain.reorg(1)
  await hasPaid(buyer, 0n)
  const worker = await world.market.startWorker(FREQUENT_SWEEPS)
  onTestFinished(() => worker.stop())
  await until('it is paid again', async () => (await buyer.usdc()) === RICH - DUE, LONG)
  const order = await world.market.db
    .selectFrom('orders')
    .select(['status', 'payment_reference'])
    .where('id', '=', bought.body.data.order_id)
    .executeTakeFirstOrThrow()
  const receipt = await chain.rpc('eth_getTransactionReceipt', [order.payment_reference as Hex])
  expect([order.status, receipt]).toMatchObject(['paid', { status: '0x1' }])
})

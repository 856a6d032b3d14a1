import { deleteUnusedUploads } from '@market/files/uploads'
import { endFileUses } from '@market/jobs/end-file-uses'
import { DAY, HOUR } from '@market/kernel/clock'
import type { OrderId } from '@market/kernel/ids'
import { storageFrom } from '@market/platform/settings/storage'
import { testClock } from '@market/testing/clock'
import { putOrderIn } from '@market/testing/make-order'
import { marketContext } from '@market/testing/market-context'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postAs } from '../support/bounties.ts'
import { makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { makeService } from '../support/services.ts'
import { type UploadedFile, uploadFile } from '../support/uploads.ts'

type Agent = Awaited<ReturnType<typeof makeOwnedAgent>>

let market: Market
let seller: Agent
let buyer: Agent
beforeAll(async () => {
  market = await startMarket()
  seller = await makeOwnedAgent(market)
  buyer = await makeOwnedAgent(market)
})
afterAll(() => market.stop())

/** What the worker does so long from now. */
async function sweepAfter(ms: number): Promise<void> {
  const ctx = marketContext({
    db: market.db,
    clock: testClock(new Date(market.now() + ms)),
    objects: storageFrom({ ...market.s3.settings, S3_REGION: 'us-east-1', TIMEOUT_FACTOR: 10 }),
  })
  await endFileUses(ctx)
  await deleteUnusedUploads(ctx)
}

const statusOf = async ({ url }: UploadedFile) => (await fetch(market.fileAt(url))).status
const upload = () => uploadFile(market, { bearer: buyer.apiKey })

async function order(...files: UploadedFile[]): Promise<OrderId> {
  const service = await makeService(market, seller)
  const wanted = { service_id: service.id, brief: 'Draw a fox.', reference_urls: files.map(({ id }) => id) }
  const { status, body } = await market.client().post('/api/orders', wanted, { bearer: buyer.apiKey })
  expect(status).toBe(201)
  return body.data.id
}
const put = (id: OrderId, status: Parameters<typeof putOrderIn>[2]) =>
  putOrderIn(market.db, id, status, new Date(market.now()))

test('a file of an order that ended unpaid is deleted after a day; one of an open or a completed order stays', async () => {
  const [unpaid, open, completed] = [await upload(), await upload(), await upload()]
  await put(await order(unpaid), 'cancelled')
  await order(open)
  await put(await order(completed), 'completed')
  await sweepAfter(23 * HOUR)
  expect(await statusOf(unpaid)).toBe(200)
  await sweepAfter(DAY + HOUR)
  expect(await Promise.all([unpaid, open, completed].map(statusOf))).toEqual([404, 200, 200])
})

test('a file of an order that was paid and refunded stays for 30 days', async () => {
  const file = await upload()
  const id = await order(file)
  await put(id, 'paid')
  await put(id, 'cancelled')
  await sweepAfter(29 * DAY)
  expect(await statusOf(file)).toBe(200)
  await sweepAfter(30 * DAY + HOUR)
  expect(await statusOf(file)).toBe(404)
})

test('a file of two orders stays until both ended unpaid, and for good when one was paid', async () => {
  const [shared, paid] = [await upload(), await upload()]
  await put(await order(shared, paid), 'cancelled')
  const second = await order(shared)
  await put(await order(paid), 'completed')
  await sweepAfter(DAY + HOUR)
  expect([await statusOf(shared), await statusOf(paid)]).toEqual([200, 200])
  await put(second, 'cancelled')
  await sweepAfter(DAY + HOUR)
  expect([await statusOf(shared), await statusOf(paid)]).toEqual([404, 200])
})

test('a file of a bounty that nobody paid is deleted a day after the bounty ended', async () => {
  const [file, other] = [await upload(), await upload()]
  const ask = { bearer: buyer.apiKey }
  const fieldsWith = ({ id }: UploadedFile) => ({ client_wallet: buyer.owner.address, reference_urls: [id] })
  const bounty = await postAs(market, ask, fieldsWith(file))
  await postAs(market, ask, fieldsWith(other))
  const { status } = await market.client().patch(`/api/bounties/${bounty}`, { status: 'cancelled' }, ask)
  expect(status).toBe(200)
  await sweepAfter(DAY + HOUR)
  expect([await statusOf(file), await statusOf(other)]).toEqual([404, 200])
})

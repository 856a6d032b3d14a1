import type { OrderId } from '@market/kernel/ids'
import { vaultOf } from '@market/platform/settings/vault'
import { putOrderIn } from '@market/testing/make-order'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAgent, makeOwnedAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { PNG, type UploadedFile, uploadFile } from '../support/uploads.ts'

let market: Market
let seller: Awaited<ReturnType<typeof makeOwnedAgent>>
beforeAll(async () => {
  market = await startMarket()
  seller = await makeOwnedAgent(market)
})
afterAll(() => market.stop())

const { post, get } = {
  post: (path: string, body: unknown, bearer: string) => market.client().post(path, body, { bearer }),
  get: (path: string, bearer: string) => market.client().get(path, { bearer }),
}
const bySeller = () => ({ bearer: seller.apiKey })
const statusOf = async (url: string) => (await fetch(market.fileAt(url))).status

/** A paid order of an agent that buys. */
async function paidOrder(fields: Record<string, unknown> = {}) {
  const buyer = await makeOwnedAgent(market)
  const service = await makeService(market, seller)
  const wanted = { service_id: service.id, brief: 'Draw a fox that jumps.', ...fields }
  const { status, body } = await post('/api/orders', wanted, buyer.apiKey)
  expect(status).toBe(201)
  const id = body.data.id as string
  await putOrderIn(market.db, id as OrderId, 'paid', new Date(market.now()))
  return { id, buyer }
}

const deliver = (id: string, body: unknown) => post(`/api/orders/${id}/deliver`, body, seller.apiKey)
const deliverablesOf = async (id: string, bearer: string) =>
  (await get(`/api/orders/${id}`, bearer)).body.data.deliverables as (UploadedFile & { type: string })[]

test('an upload is delivered by its id and by its URL; its type and digest are those of the file', async () => {
  const { id, buyer } = await paidOrder()
  const [picture, code] = [
    await uploadFile(market, bySeller()),
    await uploadFile(market, bySeller(), 'print(1)', 'run.py'),
  ]
  const said = { sha256: 'a'.repeat(64), media_type: 'text/html' }
  const deliverables = [
    { type: 'image', url: picture.id, title: 'A fox', ...said },
    { type: 'code', url: code.url },
    { type: 'link', url: 'https://elsewhere.example/page' },
  ]
  expect((await deliver(id, { deliverables })).status).toBe(200)
  expect(await deliverablesOf(id, buyer.apiKey)).toMatchObject([
    { type: 'image', url: picture.url, media_type: 'image/png', sha256: picture.sha256, title: 'A fox' },
    { type: 'code', url: code.url, media_type: 'text/plain', sha256: code.sha256 },
    { type: 'link', url: 'https://elsewhere.example/page', media_type: null, sha256: null },
  ])
  const served = await fetch(market.fileAt(picture.url))
  expect(served.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  await market.advance(25 * 3_600_000)
  expect((await deliver(id, { deliverable_url: code.id })).status).toBe(200)
  expect(await deliverablesOf(id, buyer.apiKey)).toMatchObject([{ type: 'code', url: code.url }])
})

test('404: the upload of another agent, by its id or URL, as deliverable and as reference', async () => {
  const { id, buyer } = await paidOrder()
  const other = await uploadFile(market, { bearer: (await makeAgent(market)).apiKey })
  const service = await makeService(market, seller)
  for (const reference of [
    other.id,
    other.url,
    `${other.url}?x=1`,
    'upl_1_0none',
    'https://files.market.test/x',
  ]) {
    rejected(await deliver(id, { deliverable_url: reference }), 404, 'upload_not_found')
    rejected(
      await deliver(id, { deliverables: [{ type: 'image', url: reference }] }),
      404,
      'upload_not_found',
    )
    const wanted = { service_id: service.id, brief: 'Draw a fox that jumps.' }
    for (const fields of [{ reference_urls: [reference] }, { reference_images: [reference] }])
      rejected(await post('/api/orders', { ...wanted, ...fields }, buyer.apiKey), 404, 'upload_not_found')
  }
})

test('references of an order are stored as URLs, and sent to the agent', async () => {
  const buyer = await makeOwnedAgent(market)
  const picture = await uploadFile(market, { bearer: buyer.apiKey })
  const service = await makeService(market, seller)
  const { status, body } = await post(
    '/api/orders',
    {
      service_id: service.id,
      brief: 'Draw a fox that jumps.',
      reference_images: [picture.id],
      reference_urls: [picture.url, 'https://elsewhere.example/'],
    },
    buyer.apiKey,
  )
  expect(status).toBe(201)
  expect(body.data).toMatchObject({
    reference_images: [picture.url],
    reference_urls: [picture.url, 'https://elsewhere.example/'],
  })
  const events = await get('/api/events?limit=100', seller.apiKey)
  const created = (events.body.data as { order_id: string; data: object }[]).findLast(
    ({ order_id }) => order_id === body.data.id,
  )
  expect(created?.data).toMatchObject({ reference_images: [picture.url] })
  // It is deleted with the account of the buyer, so no cache may store it.
  const served = await fetch(market.fileAt(picture.url))
  expect([served.status, served.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
})

test('400: an http:// link to another program of the reader’s machine', async () => {
  const { id } = await paidOrder()
  for (const url of [
    'http://127.0.0.1:8080/upl_/../admin',
    'http://localhost/upl_x/a.png?b',
    'http://localhost/upl_1/a.png',
  ])
    expect((await deliver(id, { deliverables: [{ type: 'link', url }] })).status).toBe(400)
})

test('404: delivering a used file to the order of others does not show whether it exists', async () => {
  const secret = await paidOrder({ private: true })
  const upload = await uploadFile(market, bySeller())
  expect((await deliver(secret.id, { deliverable_url: upload.id })).status).toBe(200)
  const [other, buyer] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  const service = await makeService(market, other)
  const wanted = { service_id: service.id, brief: 'Draw a fox that jumps.' }
  const { body } = await post('/api/orders', wanted, buyer.apiKey)
  rejected(await deliver(body.data.id, { deliverable_url: upload.id }), 404, 'order_not_found')
})

test('files of a private order open only with a link that the order shows, for 15 minutes (asvs V5.4)', async () => {
  const { id, buyer } = await paidOrder({ private: true })
  const upload = await uploadFile(market, bySeller())
  expect(await statusOf(upload.url)).toBe(200)
  expect((await deliver(id, { deliverable_url: upload.id })).status).toBe(200)
  expect(await statusOf(upload.url)).toBe(404)

  const [shown] = await deliverablesOf(id, buyer.apiKey)
  const link = shown?.url ?? ''
  expect(link.startsWith(`${upload.url}?expires=`)).toBe(true)
  const served = await fetch(market.fileAt(link))
  expect([served.status, served.headers.get('cache-control')]).toEqual([200, 'private, no-store'])
  expect(Buffer.from(await served.arrayBuffer()).equals(PNG)).toBe(true)

  const changed = new URL(link)
  changed.searchParams.set('expires', String(Number(changed.searchParams.get('expires')) + 60))
  expect(await statusOf(changed.href)).toBe(404)
  expect(await statusOf(link.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')))).toBe(404)
  expect(await statusOf(`${upload.url}?expires=1`)).toBe(404)
  rejected(await get(`/api/orders/${id}`, (await makeAgent(market)).apiKey), 404, 'order_not_found')

  // As we signed it 16 minutes ago.
  const expires = Math.floor(Date.now() / 1_000) - 60
  const vault = vaultOf(market.environment as unknown as Parameters<typeof vaultOf>[0])
  const signature = vault.fingerprint('file_url', `${upload.id}:${expires}`).toString('base64url')
  expect(await statusOf(`${upload.url}?expires=${expires}&signature=${signature}`)).toBe(403)
})

test('409: a file of a private order cannot be part of a public one, nor the other way', async () => {
  const [secret, open] = [await paidOrder({ private: true }), await paidOrder()]
  const [first, second] = [await uploadFile(market, bySeller()), await uploadFile(market, bySeller())]
  expect((await deliver(secret.id, { deliverable_url: first.id })).status).toBe(200)
  expect((await deliver(open.id, { deliverable_url: second.id })).status).toBe(200)
  rejected(await deliver(open.id, { deliverable_url: first.id }), 409, 'upload_used_elsewhere')
  rejected(await deliver(secret.id, { deliverable_url: second.id }), 409, 'upload_used_elsewhere')
})

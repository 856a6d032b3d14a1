import { createHash } from 'node:crypto'
import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { putOrderIn } from '@market/testing/make-order'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { makeAgent, makeOwnedAgent, makeUser, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { formOf } from '../support/operation-request.ts'
import { exchange } from '../support/raw-socket.ts'
import { rejected } from '../support/rejected.ts'
import { makeService } from '../support/services.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { PNG, partHead, requestHead, sendFile, uploadFile } from '../support/uploads.ts'

const MEGABYTE = 1024 * 1024

let market: Market
let agent: Awaited<ReturnType<typeof makeAgent>>
beforeAll(async () => {
  market = await startMarket({
    UPLOAD_FILES_PER_DAY: '40',
    UPLOAD_MB_PER_DAY: '60',
    UPLOAD_UNPAID_MB_PER_DAY: '1',
  })
  agent = await makeAgent(market)
})
afterAll(() => market.stop())

const PATH = '/api/upload'
const asAgent = () => ({ bearer: agent.apiKey })

commonWriteErrors({
  market: () => market,
  operation: operations.uploadFile,
  good: async () => ({ path: PATH, body: formOf('Notes of the day.'), ask: asAgent() }),
  other: (call) => ({ ...call, body: formOf('Other notes of the day.') }),
})

test('201: a picture of an agent, by its bytes, served at its address', async () => {
  const { status, body } = await sendFile(market, asAgent())
  expect(status).toBe(201)
  const { id } = body.data
  expect(body.data).toEqual({
    id: expect.stringMatching(/^upl_\d+_0[0-9a-z]{16}$/),
    url: `https://files.market.test/${id}/picture.png`,
    media_type: 'image/png',
    size: PNG.length,
    sha256: createHash('sha256').update(PNG).digest('hex'),
  })
  const file = await fetch(market.fileAt(body.data.url))
  expect(file.status).toBe(200)
  expect(Buffer.from(await file.arrayBuffer()).equals(PNG)).toBe(true)
})

test('201: a user and a wallet upload too; the signature of the wallet counts once', async () => {
  const { token } = await makeUser(market)
  expect((await sendFile(market, { bearer: token })).status).toBe(201)
  const headers = await signOnce(market, evmSigner(), 'uploads.create')
  expect((await sendFile(market, { headers })).status).toBe(201)
  rejected(await sendFile(market, { headers }), 401, 'signature_used')
})

test('422: an Idempotency-Key with the same file under another name', async () => {
  const key = 'the-same-key-twice'
  expect((await sendFile(market, { ...asAgent(), key }, 'text', 'a.txt')).status).toBe(201)
  rejected(await sendFile(market, { ...asAgent(), key }, 'text', 'b.txt'), 422, 'idempotency_key_reused')
  expect((await sendFile(market, { ...asAgent(), key }, 'text', 'a.txt')).status).toBe(201)
})

test('400: an empty file, a file of another type, and a form without a file', async () => {
  rejected(await sendFile(market, asAgent(), ''), 400, 'empty_file')
  const page = await sendFile(market, asAgent(), '<!doctype html><p>Hello', 'page.html')
  rejected(page, 400, 'unsupported_file_type')
  expect(page.body.error).toContain(
    'jpg, jpeg, png, webp, gif, mp4, webm, mov, pdf, zip, txt, md, csv, json, py',
  )
  const field = new FormData()
  field.append('file', 'only text')
  rejected(await market.client().post(PATH, field, asAgent()), 400, 'bad_form')
  rejected(await market.client().post(PATH, formOf('a', 'a.txt', 'picture'), asAgent()), 400, 'bad_form')
})

test('403: the key of an operator, which only reads', async () => {
  rejected(await sendFile(market, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

test('408: a file that stops arriving leaves nothing behind', async () => {
  const before = market.s3.keys()
  const head = requestHead(agent.apiKey, 1_000_000, someAddress())
  const received = await exchange(market.url, `${head}${partHead('slow.txt')}The beginning`, {
    quietMs: 120_000,
  })
  expect(received).toContain('HTTP/1.1 408 ')
  expect(received).toContain('upload_too_slow')
  expect(market.s3.keys()).toEqual(before)
})

/** An agent that sold something, which is in escrow. */
async function makePaidAgent() {
  const [seller, buyer] = [await makeOwnedAgent(market), await makeOwnedAgent(market)]
  const service = await makeService(market, seller)
  const wanted = { service_id: service.id, brief: 'Draw a fox that jumps.' }
  const { body } = await market.client().post('/api/orders', wanted, { bearer: buyer.apiKey })
  await putOrderIn(market.db, body.data.id, 'paid', new Date(market.now()))
  return seller
}

test('413: a file above 50 MB (asvs V5.2)', async () => {
  const { apiKey: bearer } = await makePaidAgent()
  const large = new Uint8Array(50 * MEGABYTE + 1)
  large.set(PNG)
  rejected(await sendFile(market, { bearer }, large), 413, 'file_too_large')
  expect(market.s3.openUploads()).toBe(0)
})

test('415: a body that is not a form', async () => {
  rejected(await market.client().post(PATH, { file: 'text' }, asAgent()), 415, 'unsupported_media')
  rejected(await market.client().post(PATH, undefined, asAgent()), 415, 'unsupported_media')
})

test('429: more files, or more bytes without a paid order, than the quota of a day; the next day allows more (asvs V5.2)', async () => {
  const { apiKey: bearer } = await makeAgent(market)
  const large = new Uint8Array(0.6 * MEGABYTE)
  large.set(PNG)
  await uploadFile(market, { bearer }, large)
  const paid = { bearer: (await makePaidAgent()).apiKey }
  for (let n = 0; n < 2; n++) await uploadFile(market, paid, large)
  const reply = await sendFile(market, { bearer }, large)
  rejected(reply, 429, 'upload_quota_reached')
  expect(reply.body.error).toContain('40 files and 1 MB a day')
  expect(reply.body.error).toContain('With a paid order, bought or sold, you can upload 60 MB a day.')
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  const shown = ['limit', 'remaining'].map((name) => reply.headers.get(`x-ratelimit-${name}`))
  expect(shown).toEqual(['40', '0'])
  const midnight = Math.ceil((market.now() + 1) / DAY) * DAY
  expect(Number(reply.headers.get('x-ratelimit-reset'))).toBe(midnight / 1_000)
  await uploadFile(market, { bearer })

  const other = { bearer: (await makeAgent(market)).apiKey }
  const replies = []
  for (let n = 0; n < 41; n++) replies.push(await sendFile(market, other, `file ${n}`, `${n}.txt`))
  expect(replies.filter(({ status }) => status === 201)).toHaveLength(40)
  rejected(replies.at(-1) ?? reply, 429, 'upload_quota_reached')
  await market.advance(24 * 3_600_000)
  await uploadFile(market, other)
})

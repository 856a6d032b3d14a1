import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { sendFile, type UploadedFile, uploadFile } from '../support/uploads.ts'

let market: Market
let file: UploadedFile
let url: string
const TEXT = 'The quick brown fox jumps over the lazy dog.'
beforeAll(async () => {
  market = await startMarket()
  file = await uploadFile(market, { bearer: (await makeAgent(market)).apiKey }, TEXT, 'Größe.txt')
  url = market.fileAt(file.url)
})
afterAll(() => market.stop())

test('a file has its length, its digest as ETag and a name for the download (asvs V5.3)', async () => {
  const response = await fetch(url)
  expect(await response.text()).toBe(TEXT)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-length': String(TEXT.length),
    etag: `"${file.sha256}"`,
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="Gr__e.txt"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.txt`,
    'cross-origin-resource-policy': 'cross-origin',
    // No order refers to it yet, so it may still become private.
    'cache-control': 'private, no-store',
  })
})

test('HEAD returns the headers only', async () => {
  const response = await fetch(url, { method: 'HEAD' })
  expect([response.status, response.headers.get('content-length')]).toEqual([200, String(TEXT.length)])
  expect(await response.text()).toBe('')
})

test.each([
  ['bytes=0-2', 206, 'The', 'bytes 0-2/44'],
  ['bytes=40-', 206, 'dog.', 'bytes 40-43/44'],
  ['bytes=-4', 206, 'dog.', 'bytes 40-43/44'],
  ['bytes=-400', 206, TEXT, 'bytes 0-43/44'],
  ['bytes=40-900', 206, 'dog.', 'bytes 40-43/44'],
  ['bytes=44-', 416, '', 'bytes */44'],
  ['bytes=5-4', 416, '', 'bytes */44'],
  ['bytes=0-1,4-5', 200, TEXT, null],
  ['bytes=-', 200, TEXT, null],
  ['lines=1-2', 200, TEXT, null],
])('the range %s returns %i', async (range, status, text, contentRange) => {
  const response = await fetch(url, { headers: { range } })
  expect([response.status, await response.text(), response.headers.get('content-range')]).toEqual([
    status,
    text,
    contentRange,
  ])
})

test('a range of another version returns the whole file, a known version 304', async () => {
  const other = await fetch(url, { headers: { range: 'bytes=0-2', 'if-range': '"other"' } })
  expect([other.status, await other.text()]).toEqual([200, TEXT])
  const same = await fetch(url, { headers: { range: 'bytes=0-2', 'if-range': `"${file.sha256}"` } })
  expect([same.status, await same.text()]).toEqual([206, 'The'])
  expect((await fetch(url, { headers: { 'if-none-match': `"${file.sha256}"` } })).status).toBe(304)
})

test('another name, another id, another path and another method are not found', async () => {
  const { origin } = new URL(url)
  for (const path of [
    `/${file.id}/other.txt`,
    `/${file.id}`,
    `/${file.id}/`,
    `/upl_1700000000000_${'0'.repeat(17)}/Größe.txt`,
    `/${file.id}/..%2F${file.id}`,
    '/',
    '/healthz',
  ]) {
    const response = await fetch(`${origin}${path}`)
    expect([path, response.status]).toEqual([path, 404])
    expect(await response.json()).toMatchObject({ success: false, code: 'file_not_found' })
  }
  expect((await fetch(url, { method: 'POST', body: 'x' })).status).toBe(404)
})

test('while the storage is away, reads and uploads are 503 with Retry-After and nothing is stored', async () => {
  const { apiKey: bearer } = await makeAgent(market)
  const before = market.s3.keys()
  await market.s3.kill()
  const read = await fetch(url)
  expect([read.status, read.headers.get('retry-after'), read.headers.get('cache-control')]).toEqual([
    503,
    '5',
    'no-store',
  ])
  expect(await read.json()).toMatchObject({ code: 'storage_unavailable' })
  const sent = await sendFile(market, { bearer })
  expect([sent.status, sent.body.code, sent.headers.get('retry-after')]).toEqual([
    503,
    'storage_unavailable',
    '5',
  ])
  await market.s3.restart()
  expect((await fetch(url)).status).toBe(200)
  expect(market.s3.keys()).toEqual(before)
})

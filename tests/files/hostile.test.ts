import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someAddress } from '../support/client.ts'
import { makeAgent } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { BOUNDARY, type UploadedFile } from '../support/uploads.ts'
import { HOSTILE, type HostileForm } from './hostile-files.ts'

let market: Market
let apiKey: string
beforeAll(async () => {
  market = await startMarket()
  apiKey = (await makeAgent(market)).apiKey
})
afterAll(() => market.stop())

async function send({ body, contentType }: HostileForm, length = body.length) {
  const headers = {
    authorization: `Bearer ${apiKey}`,
    'content-type': contentType ?? `multipart/form-data; boundary=${BOUNDARY}`,
    'content-length': length,
    'x-forwarded-for': someAddress(),
  }
  const sent = request(`${market.url}/api/upload`, { method: 'POST', headers })
  sent.end(body)
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
  })
  return { status: response.statusCode, body: JSON.parse(await text(response)) as Record<string, unknown> }
}

const rows = async () =>
  Number(
    (
      await market.db
        .selectFrom('uploads')
        .select((of) => of.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

test('there are at least 40 hostile forms', () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(40)
})

describe.each(HOSTILE.filter(({ rejected }) => rejected))('$what', (form) => {
  test('is rejected and leaves nothing behind (asvs V5.1)', async () => {
    const before = [await rows(), market.s3.keys(), market.s3.openUploads()]
    const { status, body } = await send(form)
    expect([status, body['code']]).toEqual([400, form.rejected])
    expect([await rows(), market.s3.keys(), market.s3.openUploads()]).toEqual(before)
  })
})

describe.each(HOSTILE.filter(({ storedAs }) => storedAs))('$what', (form) => {
  test('is stored and served as what it is', async () => {
    const { status, body } = await send(form)
    expect(status).toBe(201)
    const { id, url, media_type } = body['data'] as UploadedFile
    const { mediaType, name } = form.storedAs ?? { mediaType: '', name: '' }
    expect([media_type, decodeURIComponent(url)]).toEqual([
      mediaType,
      `https://files.market.test/${id}/${name}`,
    ])
    const served = await fetch(market.fileAt(url))
    await served.arrayBuffer()
    const isInline = /^(image|video)\//.test(mediaType)
    expect(served.headers.get('content-type')).toBe(
      mediaType === 'text/plain' ? 'text/plain; charset=utf-8' : mediaType,
    )
    expect(served.headers.get('content-disposition')).toMatch(isInline ? /^inline; / : /^attachment; /)
    expect(served.headers.get('x-content-type-options')).toBe('nosniff')
    expect(served.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'")
    expect(served.headers.get('set-cookie')).toBeNull()
    expect(served.headers.get('access-control-allow-credentials')).toBeNull()
  })
})

import { operations } from '@market/contract/operations'
import { DAY } from '@market/kernel/clock'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import { BOUNTY, BOUNTY_ID, bountyOf } from '../support/bounties.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed, signOnce } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { uploadFile } from '../support/uploads.ts'

const PATH = '/api/bounties'

let market: Market
/** An agent whose API key posts with its owner's wallet. */
let agent: Awaited<ReturnType<typeof makeOwnedAgent>>
beforeAll(async () => {
  market = await startMarket()
  agent = await makeOwnedAgent(market)
})
afterAll(() => market.stop())

const bodyWith = (fields: Record<string, unknown> = {}) => ({
  ...BOUNTY,
  client_wallet: agent.owner.address,
  ...fields,
})
const post = (fields: Record<string, unknown> = {}, ask: RequestOptions = { bearer: agent.apiKey }) =>
  market.client().post(PATH, bodyWith(fields), ask)
/** The named field of the created bounty. */
const stored = async (field: string, value: unknown) => {
  const { status, body } = await post({ [field]: value })
  expect([status, body.error]).toEqual([201, undefined])
  return body.data[field]
}

commonWriteErrors({
  market: () => market,
  operation: operations.createBounty,
  good: async () => ({ path: PATH, body: bodyWith(), ask: { bearer: agent.apiKey } }),
  other: (call) => ({ ...call, body: { ...(call.body as object), title: 'A poster for a bakery' } }),
})

test('201: a wallet posts with its signature; every field of the response', async () => {
  for (const signer of [evmSigner(), await solanaSigner()]) {
    const proof = await signed(signer, `bounties.create:${signer.address}`)
    const { status, body } = await post({ client_wallet: signer.address, ...proof }, {})
    expect(status).toBe(201)
    expect(body).toEqual({ success: true, data: bountyOf(body.data.bounty_id, signer.address) })
    expect(body.data.bounty_id).toMatch(BOUNTY_ID)
    const { created_at, updated_at, expires_at } = body.data
    expect(updated_at).toBe(created_at)
    expect(Date.parse(expires_at) - Date.parse(created_at)).toBe(30 * DAY)
    const read = await market.client().get(`${PATH}/${body.data.bounty_id}`)
    expect(read.body.data).toMatchObject(body.data)
  }
})

test('201: every optional field, with an upload as a reference', async () => {
  const upload = await uploadFile(market, { bearer: agent.apiKey })
  const fields = {
    budget_usd: '7.123456',
    deadline_hours: 168,
    claim_window_hours: 6,
    reference_urls: ['https://hooks.example/a', upload.id],
    reference_images: ['https://hooks.example/b.png'],
  }
  const { status, body } = await post(fields)
  expect(status).toBe(201)
  expect(body.data).toEqual(
    bountyOf(body.data.bounty_id, agent.owner.address, {
      ...fields,
      budget_usd: 7.123456,
      // 10 % on top, rounded up to the next micro-USD.
      escrow_usd: '7.835802',
      reference_urls: ['https://hooks.example/a', upload.url],
    }),
  )
})

test('201: a user with a linked wallet, and with a wallet that signs too', async () => {
  const [linked, other] = [evmSigner(), evmSigner()]
  const { token } = await makeUser(market, { wallets: [linked.address] })
  const ask = { bearer: token }
  expect((await post({ client_wallet: linked.address }, ask)).body.data.client_wallet).toBe(linked.address)
  const proof = await signed(other, `bounties.create:${other.address}`)
  const cosigned = await post({ client_wallet: other.address, ...proof }, ask)
  expect([cosigned.status, cosigned.body.data.client_wallet]).toEqual([201, other.address])
  rejected(await post({ client_wallet: other.address, ...proof }, ask), 401, 'signature_used')
})

test('201: client_wallet in another letter case is the same wallet', async () => {
  const { body } = await post({ client_wallet: agent.owner.address.toLowerCase() })
  expect(body.data.client_wallet).toBe(agent.owner.address)
})

describe('bounds', () => {
  test('201: each text at its bounds, 400: below and above', async () => {
    const bounds = [
      ['title', 3, 100],
      ['brief', 10, 2_000],
    ] as const
    for (const [field, min, max] of bounds) {
      for (const length of [min, max])
        expect(await stored(field, 'é'.repeat(length))).toBe('é'.repeat(length))
      for (const length of [0, min - 1, max + 1]) invalid(await post({ [field]: 'é'.repeat(length) }), field)
    }
    for (const title of ['two\nlines', ' spaces ', 7, null]) invalid(await post({ title }), 'title')
  })

  test('201: 5 URLs and 3 images, 400: one more, and a reference that is no https URL', async () => {
    const urls = Array.from({ length: 6 }, (_, n) => `https://hooks.example/${n}`)
    expect(await stored('reference_urls', urls.slice(0, 5))).toHaveLength(5)
    expect(await stored('reference_images', urls.slice(0, 3))).toHaveLength(3)
    invalid(await post({ reference_urls: urls }), 'reference_urls')
    invalid(await post({ reference_images: urls.slice(0, 4) }), 'reference_images')
    for (const field of ['reference_urls', 'reference_images'])
      for (const url of ['http://hooks.example/a', 'ftp://hooks.example/a', 'https://a@hooks.example'])
        invalid(await post({ [field]: [url] }), `${field}.0`)
  })

  test('201: a budget from 1 to 1,000,000 USD as a number or a string, returned as a number', async () => {
    const budgets = [
      [1, 1],
      ['1.00', 1],
      [1.000001, 1.000001],
      [0.1 + 0.9, 1],
      ['999999.999999', 999_999.999999],
      [1_000_000, 1_000_000],
      ['1000000.000000', 1_000_000],
    ] as const
    for (const [sent, returned] of budgets) expect(await stored('budget_usd', sent)).toBe(returned)
  })

  test('400: a budget below 1, above 1,000,000, with 7 decimals, negative or not a number', async () => {
    const below = [0, '0', '0.999999', 0.999999, 0.99]
    const above = [1_000_000.000001, '1000000.000001', 1_000_001, '999999999999']
    const unreadable = [1.0000001, '1.0000000', -1, '-1', '1e3', '1,5', 'NaN', '', null, true]
    for (const budget_usd of [...below, ...above, ...unreadable])
      invalid(await post({ budget_usd }), 'budget_usd')
  })

  test('201: each deadline_hours and claim_window_hours, 400: their neighbours', async () => {
    const values = {
      deadline_hours: [1, 6, 12, 24, 48, 72, 168],
      claim_window_hours: [6, 12, 24, 48, 72, 168],
    }
    for (const [field, allowed] of Object.entries(values)) {
      for (const hours of allowed) expect(await stored(field, hours)).toBe(hours)
      const neighbours = allowed.flatMap((hours) => [hours - 1, hours + 1])
      for (const hours of [...neighbours, 0, -1, 1.5, '24', null].filter(
        (one) => !allowed.includes(one as never),
      ))
        invalid(await post({ [field]: hours }), field)
    }
    invalid(await post({ claim_window_hours: 1 }), 'claim_window_hours')
    expect((await post()).body.data.claim_window_hours).toBe(24)
  })

  test('400: a missing field, an unknown category and an address that is no wallet', async () => {
    for (const field of ['title', 'brief', 'category', 'budget_usd', 'deadline_hours', 'client_wallet'])
      invalid(await post({ [field]: undefined }), field)
    invalid(await post({ category: 'cooking' }), 'category')
    for (const client_wallet of ['mine', `0x${'1'.repeat(39)}`, ''])
      invalid(await post({ client_wallet }), 'client_wallet')
  })
})

test('400: wallet_not_proven when client_wallet neither signed, is linked, nor belongs to the agent’s owner', async () => {
  const { token } = await makeUser(market, { wallets: [evmSigner().address] })
  const withoutOwner = await makeAgent(market)
  const linked = await makeUser(market, { wallets: [agent.owner.address] })
  // An API key must not find out which wallets are linked to the account of its owner.
  const ofAccount = await makeAgent(market, { idp_access_token: linked.token })
  const signer = evmSigner()
  const headers = await signOnce(market, signer, `bounties.create:${agent.owner.address}`)
  const keys = [token, withoutOwner.apiKey, ofAccount.apiKey]
  const asks = [...keys.map((bearer) => ({ bearer })), { headers }]
  for (const ask of asks)
    rejected(await post({}, ask), 400, 'wallet_not_proven', {
      details: [{ path: 'client_wallet', message: expect.any(String) }],
    })
})

test('404: a reference to an upload of another caller', async () => {
  const { id } = await uploadFile(market, { bearer: (await makeOwnedAgent(market)).apiKey })
  rejected(await post({ reference_urls: [id] }), 404, 'upload_not_found')
})

test('401: a signature for another purpose or wallet, one that is expired, and a wrong one beside a token', async () => {
  const signer = await solanaSigner()
  const purpose = `bounties.create:${signer.address}`
  const fields = { client_wallet: signer.address }
  for (const [code, proof] of await badSignatures(signer, purpose, market.now()))
    rejected(await post({ ...fields, ...proof }, {}), 401, code)
  for (const other of [
    'session',
    `bounties.create:${evmSigner().address}`,
    `orders.create:${signer.address}`,
  ])
    rejected(await post({ ...fields, ...(await signed(signer, other)) }, {}), 401, 'bad_signature', {
      expected_purpose: purpose,
    })
  const { token } = await makeUser(market)
  const headers = asHeaders(await signed(signer, 'session'))
  rejected(await post(fields, { bearer: token, headers }), 401, 'bad_signature')
})

test('403: an operator’s key', async () => {
  rejected(await post({}, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

import { createHash } from 'node:crypto'
import { request } from 'node:http'
import type { EvmNetwork } from '@market/testing/evm-network'
import type { EvmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { encodeFunctionData, erc20Abi, parseAbi } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Envelope, someAddress } from '../support/client.ts'
import type { EvmBuyer } from './buyers.ts'
import { BRIEF, DUE, json, type PurchaseWorld, startPurchaseWorld } from './purchase-world.ts'

/** Which fields each purchase route reads, and how it identifies the payer. */

const EMOJI = '😀'

let world: PurchaseWorld
let serviceId: string
let askingId: string
let buyer: EvmBuyer
beforeAll(async () => {
  world = await startPurchaseWorld()
  serviceId = (await world.newSeller()).serviceId
  const fields = ['One', 'Two'].map((label) => ({ label, type: 'textarea', required: false }))
  askingId = (await world.newSeller({ requirement_fields: fields })).serviceId
  buyer = await world.places['base-mainnet'].newBuyer()
})
afterAll(() => world.stop())

const url = (path: string) => `${world.market.url}${path}`
const rowOf = (id: unknown) =>
  world.market.db.selectFrom('orders').selectAll().where('id', '=', String(id)).executeTakeFirstOrThrow()

describe('order request with a payment', () => {
  const SAID = {
    requirement_answers: { One: 'the first answer' },
    reference_urls: ['https://example.com/a', 'https://example.com/b'],
    reference_images: ['https://example.com/c.png'],
    private: true,
  }
  const KEPT = {
    brief: BRIEF,
    requirement_answers: SAID.requirement_answers,
    reference_urls: SAID.reference_urls,
    reference_images: SAID.reference_images,
    is_private: true,
  }
  const wanted = () => ({ service_id: askingId, brief: BRIEF })
  const order = (body: unknown, reference: string) =>
    world.client().post('/api/orders', body, { headers: { 'x-payment': reference } })

  test('accepts every order field, paid by transfer and by signature', async () => {
    const sent = await order({ ...wanted(), ...SAID }, await buyer.send(DUE))
    expect(sent.status).toBe(201)
    expect(await rowOf(sent.body.data.order_id)).toMatchObject(KEPT)
    const signed = await buyer.paying(url('/api/orders'), json({ ...wanted(), ...SAID }))
    const { data } = (await signed.json()) as Envelope
    expect(signed.status).toBe(201)
    expect(await rowOf(data.order_id)).toMatchObject(KEPT)
  })

  test('is a new purchase when any field differs, and a replay when none does', async () => {
    const reference = await buyer.send(DUE)
    const first = await order({ ...wanted(), ...SAID }, reference)
    const others = [
      { private: false },
      { reference_urls: SAID.reference_urls.toReversed() },
      { reference_images: [] },
      { requirement_answers: { Two: 'the first answer' } },
    ]
    for (const other of others)
      expect((await order({ ...wanted(), ...SAID, ...other }, reference)).status).toBe(409)
    expect((await order(wanted(), reference)).status).toBe(409)
    const again = await order({ ...SAID, ...wanted() }, reference)
    const { order_id, status } = first.body.data
    expect([again.status, again.body.data]).toMatchObject([201, { order_id, status }])
  })

  test('is the same purchase as on another route when it has only the fields of that route', async () => {
    const reference = await buyer.send(DUE)
    const paid = await world.buyWithTransfer(serviceId, buyer, reference)
    const plain = { reference_urls: [], private: false }
    const again = await order({ service_id: serviceId, brief: BRIEF, ...plain }, reference)
    expect([again.status, again.body.data.order_id]).toEqual([201, paid.body.data.order_id])
  })

  test('accepts either name of the requirement answers, but not both', async () => {
    const reference = await buyer.send(DUE)
    const answers = SAID.requirement_answers
    const both = await order({ ...wanted(), requirements: answers, requirement_answers: answers }, reference)
    expect(both.status).toBe(400)
    const one = await order({ ...wanted(), requirements: answers }, reference)
    expect((await rowOf(one.body.data.order_id)).requirement_answers).toEqual(answers)
    expect((await order({ ...wanted(), requirement_answers: answers }, reference)).status).toBe(201)
  })

  test('is rejected by the rules of an order, and the payment stays unused', async () => {
    const reference = await buyer.send(DUE)
    const wrong = [
      { reference_urls: ['http://example.com'] },
      { reference_images: Array(4).fill('https://example.com/c.png') },
      { private: 'yes' },
      { requirement_answers: { Three: 'x'.repeat(501) } },
    ]
    for (const field of wrong) {
      const { status, body } = await order({ ...wanted(), ...field }, reference)
      const [name] = Object.keys(field)
      expect([status, body.details?.[0]?.path]).toEqual([400, expect.stringContaining(String(name))])
    }
    const unknown = await order({ ...wanted(), priority: 1 }, reference)
    expect([unknown.status, unknown.body.error]).toEqual([400, 'Unknown field: priority'])
    expect((await order(wanted(), reference)).status).toBe(201)
  })

  test('accepts client_wallet and payment_chain, which an order without a payment has too', async () => {
    const fields = { client_wallet: buyer.address, payment_chain: 'base' }
    expect((await order({ ...wanted(), ...fields }, await buyer.send(DUE))).status).toBe(201)
    const quote = await world.client().post('/api/orders', { ...wanted(), ...fields })
    expect(quote.status).toBe(402)
  })
})

test('brief from requirement answers: is cut between characters at the maximum length of a brief', async () => {
  // Cut by UTF-16 units, the last character would be half of a surrogate pair.
  const requirements = { One: 'x'.repeat(1_000), Two: EMOJI.repeat(2_000) }
  const body = { requirements }
  for (const hire of [
    async () => fetch(url(world.payPath(askingId)), json(body, { 'x-payment': await buyer.send(DUE) })),
    () => buyer.paying(url(world.payPath(askingId)), json(body)),
  ]) {
    const reply = await hire()
    const { data } = (await reply.json()) as Envelope
    expect([reply.status, data]).toEqual([200, expect.anything()])
    const { brief, requirement_answers } = await rowOf(data.order_id)
    expect([brief.isWellFormed(), [...brief].length]).toEqual([true, 3_000])
    expect(brief.endsWith(`${EMOJI}…`)).toBe(true)
    expect(requirement_answers).toEqual(requirements)
  }
})

describe('GET with a JSON body', () => {
  interface Asked {
    readonly path?: string
    readonly body?: string
    readonly headers?: Record<string, string>
  }
  /** A GET with a body, which `fetch` does not send. */
  const get = ({ path = `/api/x402/discover/${askingId}`, body, headers = {} }: Asked) =>
    new Promise<{ status: number | undefined; left: unknown; body: Envelope }>((resolve, reject) => {
      const said = { 'content-type': 'application/json', 'x-forwarded-for': someAddress(), ...headers }
      // Node does not set Content-Length for a GET.
      const length = 'transfer-encoding' in said ? {} : { 'content-length': Buffer.byteLength(body ?? '') }
      const asked = request(url(path), { headers: { ...length, ...said } }, async (response) => {
        const text = Buffer.concat(await response.toArray()).toString()
        const left = response.headers['x-ratelimit-remaining']
        resolve({ status: response.statusCode, left, body: JSON.parse(text) as Envelope })
      })
      asked.on('error', reject)
      asked.end(body)
    })
  const WORDS = JSON.stringify({ brief: `${EMOJI} Grün`, requirements: { One: 'an answer' } })

  test('buys with `brief` of the body, sent whole or in chunks', async () => {
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const reply = await get({ body: WORDS, headers: { ...headers, 'x-payment': await buyer.send(DUE) } })
      expect([reply.status, reply.body]).toEqual([200, expect.anything()])
      expect(await rowOf(reply.body['order_id'])).toMatchObject({
        brief: `${EMOJI} Grün`,
        requirement_answers: { One: 'an answer' },
      })
    }
  })

  test('is rejected when it is malformed, too deep or too large, and counts against the limit', async () => {
    const rejected = (body: string, headers: Record<string, string> = {}) => get({ body, headers })
    const large = JSON.stringify({ brief: 'x'.repeat(257 * 1024) })
    expect(await rejected('{')).toMatchObject({ status: 400, left: '599', body: { code: 'bad_json' } })
    expect(await rejected('{"__proto__":{}}')).toMatchObject({ status: 400, left: '599' })
    expect(await rejected(`${'['.repeat(33)}${']'.repeat(33)}`)).toMatchObject({ status: 400, left: '599' })
    expect(await rejected(large)).toMatchObject({ status: 413, left: '599' })
    expect(await rejected(large, { 'transfer-encoding': 'chunked' })).toMatchObject({
      status: 413,
      left: '599',
    })
  })

  test('is ignored when it is not JSON, and on every other operation', async () => {
    expect((await get({ body: '{', headers: { 'content-type': 'text/plain' } })).status).toBe(402)
    expect((await get({ body: '' })).status).toBe(402)
    expect((await get({})).status).toBe(402)
    expect((await get({ path: `/api/x402/discover?service_id=${askingId}`, body: '{' })).status).toBe(400)
    expect((await get({ path: '/api/services', body: '{' })).status).toBe(200)
  })
})

/** A smart wallet that is deployed on one chain only, and its payment. */
async function smartBuyer(chain: EvmNetwork, treasury: `0x${string}`) {
  const account = privateKeyToAccount(generatePrivateKey())
  const owner: EvmSigner = {
    address: account.address,
    sign: (message) => account.signMessage({ message }),
  }
  const wallet = await smartWallet(chain.url, owner)
  await wallet.deploy()
  await chain.mint(wallet.address, DUE)
  await chain.fund(account.address)
  const args = [treasury, DUE] as const
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
  const exec = encodeFunctionData({
    abi: parseAbi(['function exec(address t, bytes d)']),
    args: [chain.usdc, transfer],
  })
  return { wallet, reference: await chain.call(account, wallet.address, exec) }
}

describe('payer signature of a smart wallet', () => {
  const sayFor = async (network: string, { wallet, reference }: Awaited<ReturnType<typeof smartBuyer>>) => {
    const words = createHash('sha256').update(BRIEF).digest('hex')
    return world.payerHeaders(wallet, `x402.pay:${network}:${reference}:${serviceId}:${words}`)
  }

  test.each(['base-mainnet', 'alt-mainnet'] as const)(
    'is asked on the chain it paid on: %s',
    async (network) => {
      const { chain, treasury } = network === 'base-mainnet' ? world.base : world.alt
      const paid = await smartBuyer(chain, treasury)
      const headers = await sayFor(network, paid)
      const reply = await world.buyWithTransfer(serviceId, { network }, paid.reference, { headers })
      expect([reply.status, reply.body]).toEqual([200, expect.anything()])
      expect(await rowOf(reply.body.data.order_id)).toMatchObject({
        buyer: `wallet:${paid.wallet.address.toLowerCase()}`,
        payment_network: network,
      })
    },
  )

  test('is invalid on a chain where the wallet is not deployed', async () => {
    const paid = await smartBuyer(world.base.chain, world.base.treasury)
    const headers = await sayFor('alt-mainnet', paid)
    const reply = await world.buyWithTransfer(serviceId, { network: 'alt-mainnet' }, paid.reference, {
      headers,
    })
    expect([reply.status, reply.body.code]).toEqual([401, 'bad_signature'])
  })
})

describe('browser at another origin', () => {
  const ORIGIN = 'https://anybody.example'
  const ROUTES = [
    ['GET', `/api/x402/discover/svc_1700000000000_00000000000000000`],
    ['POST', '/api/x402/discover'],
    ['POST', '/api/x402/pay'],
    ['POST', '/api/x402/v1/pay'],
    ['POST', '/api/orders'],
    ['POST', '/api/agents/register?pay=x402'],
  ] as const
  const listed = (headers: Headers, name: string) =>
    (headers.get(name) ?? '').split(',').map((one) => one.trim().toLowerCase())
  const SENT = [
    'payment-signature',
    'x-payment',
    'x-payment-network',
    'x-payment-claim',
    'x-market-brief',
    'idempotency-key',
    'content-type',
  ]
  const READ = [
    'payment-required',
    'payment-response',
    'x-payment-response',
    'x-market-payment-reference',
    'x-market-payment-claim',
    'idempotent-replayed',
    'retry-after',
    'x-ratelimit-remaining',
  ]

  test.each(ROUTES)('may send every payment header to %s %s', async (method, path) => {
    const { status, headers } = await fetch(url(path), {
      method: 'OPTIONS',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': method,
        'access-control-request-headers': SENT.join(','),
      },
    })
    expect([status, headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    expect(listed(headers, 'access-control-allow-methods')).toContain(method.toLowerCase())
    expect(listed(headers, 'access-control-allow-headers')).toEqual(expect.arrayContaining(SENT))
  })

  test('may read the payment headers of a quote and a response', async () => {
    const asked = { origin: ORIGIN }
    const path = world.payPath(serviceId)
    const quote = await world.client().post(path, { brief: BRIEF }, { headers: asked })
    const paid = await world.buyWithTransfer(serviceId, buyer, await buyer.send(DUE), { headers: asked })
    expect([quote.status, paid.status]).toEqual([402, 200])
    for (const { headers } of [quote, paid]) {
      expect(headers.get('access-control-allow-origin')).toBe('*')
      expect(headers.get('access-control-allow-credentials')).toBeNull()
      expect(listed(headers, 'access-control-expose-headers')).toEqual(expect.arrayContaining(READ))
    }
    const said = (headers: Headers) => READ.filter((name) => headers.has(name))
    expect(said(quote.headers)).toEqual(
      expect.arrayContaining(['payment-required', 'x-market-payment-reference', 'x-market-payment-claim']),
    )
    expect(said(paid.headers)).toEqual(expect.arrayContaining(['payment-response', 'x-payment-response']))
  })
})

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '@market/contract/operations'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONFIRMATIONS, fundedPayer, newAccount } from '../chains/evm-world.ts'
import { NETWORK, openTreasury, type Treasury } from '../reserves/treasury.ts'
import { commonErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const PATH = '/api/solvency/proof'
const HASH = /^[0-9a-f]{64}$/

/** What the documentation tells people to run, taken from it word by word. */
async function documentedVerifier(): Promise<(proof: unknown, published: unknown) => boolean> {
  const page = readFileSync(new URL('../../docs/contract/solvency.md', import.meta.url), 'utf8')
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'market-'))
  try {
    writeFileSync(join(folder, 'verify.mjs'), code)
    const { verify } = (await import(/* @vite-ignore */ join(folder, 'verify.mjs'))) as {
      verify: (proof: unknown, published: unknown) => boolean
    }
    return verify
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const signerOf = (account: ReturnType<typeof newAccount>) => ({
  address: account.address,
  sign: (message: string) => account.signMessage({ message }) as Promise<string>,
})

let market: Market
let network: EvmNetwork
let treasury: Treasury
let verify: Awaited<ReturnType<typeof documentedVerifier>>
let buyer: Awaited<ReturnType<typeof fundedPayer>>
let otherUser: Awaited<ReturnType<typeof fundedPayer>>
const payee = newAccount()
let payoutAccount: string
let snapshotId: string
beforeAll(async () => {
  ;[market, network, verify] = await Promise.all([
    startMarket(),
    startEvmNetwork({ chainId: 8453 }),
    documentedVerifier(),
  ])
  treasury = await openTreasury(market.db, network)
  buyer = await fundedPayer(network)
  otherUser = await fundedPayer(network)
  await treasury.payIn(buyer, 1_050_000n, { purpose: 'order:a', due: 1_000_000n })
  await treasury.payIn(otherUser, 7_000_000n, { purpose: 'order:b', due: 7_000_000n })
  await treasury.payIn(buyer, 2_500_000n, { purpose: 'order:c', due: 2_500_000n })
  const { id } = await treasury.requestPayout('order:b', 3_000_000n, payee.address)
  payoutAccount = `payable:${NETWORK}:${id}`
  snapshotId = (await treasury.takeSnapshot(true)).id
})
afterAll(async () => {
  await market.stop()
  await network.stop()
})

const subject: Subject = {
  market: () => market,
  operation: operations.getSolvencyProof,
  good: async () => ({ path: PATH, ask: { bearer: (await makeUser(market)).token } }),
}
commonErrors(subject)
rejectsWithoutProvider(subject, PATH)

interface Proof {
  readonly leaf: { readonly account: string; readonly micros: string }
  readonly path: readonly { readonly side: string; readonly hash: string; readonly sum: string }[]
}

const get = async (ask: Parameters<ReturnType<Market['client']>['get']>[1], query = '') => {
  const { status, body } = await market.client().get(`${PATH}${query}`, ask)
  expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
  return body as unknown as { data: Proof[]; omitted: number }
}
const asWallet = async (account: ReturnType<typeof newAccount>) => ({
  headers: asHeaders(await signed(signerOf(account), 'session', market.now())),
})
const accountsOf = ({ data }: { data: readonly Proof[] }) => data.map(({ leaf }) => leaf.account)
const published = async () => (await market.client().get('/api/solvency')).body.data[0].proof

const ofBuyer = () => [
  `escrow:${NETWORK}:order:c`,
  `escrow:${NETWORK}:order:a`,
  expect.stringMatching(/^surplus:base-mainnet:0x[0-9a-f]{64}$/),
]

test('200: the liabilities of a wallet, largest first, and the documented code verifies each', async () => {
  const answer = await get(await asWallet(buyer))
  expect(answer.data[0]).toEqual({
    network: NETWORK,
    snapshot_id: snapshotId,
    checked_at: treasury.clock.now().toISOString(),
    root: (await published()).root,
    total_usd: '10.55',
    leaf: {
      account: `escrow:${NETWORK}:order:c`,
      holder: buyer.address.toLowerCase(),
      amount_usd: '2.50',
      micros: '2500000',
      salt: expect.stringMatching(/^[0-9a-f]{32}$/),
    },
    path: expect.any(Array),
  })
  expect(accountsOf(answer)).toEqual(ofBuyer())
  for (const proof of answer.data) expect(verify(proof, await published())).toBe(true)
})

test('200: the documented code rejects a changed amount, position or sum', async () => {
  const { data } = await get(await asWallet(buyer))
  const root = await published()
  for (const proof of data) {
    const leaf = { ...proof.leaf, micros: String(BigInt(proof.leaf.micros) + 1n) }
    expect(verify({ ...proof, leaf }, root)).toBe(false)
    expect(verify(proof, { ...root, liabilities_usd: '10.550001' })).toBe(false)
    expect(verify(proof, { ...root, root: root.root.replace(/^../, '..') })).toBe(false)
    expect(verify({ ...proof, path: proof.path.slice(1) }, root)).toBe(false)
    for (const [at, step] of proof.path.entries()) {
      const changes = [
        { sum: String(BigInt(step.sum) + 1n) },
        { sum: `-${step.sum}` },
        { side: step.side === 'left' ? 'right' : 'left' },
      ]
      for (const change of changes)
        expect(verify({ ...proof, path: proof.path.with(at, { ...step, ...change }) }, root)).toBe(false)
    }
  }
})

test('200: other leaves are returned only as hashes and sums', async () => {
  const answer = await get(await asWallet(buyer))
  for (const step of answer.data.flatMap(({ path }) => path)) {
    expect(step).toEqual({
      side: expect.stringMatching(/^(left|right)$/),
      hash: expect.stringMatching(HASH),
      sum: expect.stringMatching(/^\d+$/),
    })
  }
  const text = JSON.stringify(answer)
  for (const others of [
    otherUser.address.toLowerCase(),
    payee.address.toLowerCase(),
    'order:b',
    payoutAccount,
  ])
    expect(text).not.toContain(others)
})

test('200: at most `limit` leaves, with the number of omitted ones', async () => {
  const answer = await get(await asWallet(buyer), '?limit=1')
  expect(accountsOf(answer)).toEqual([`escrow:${NETWORK}:order:c`])
  expect(answer.omitted).toBe(2)
})

test('200: the liabilities of the wallets that are linked to the user now', async () => {
  const { sub, token } = await makeUser(market, { wallets: [buyer.address, payee.address] })
  const answer = await get({ bearer: token })
  expect(accountsOf(answer)).toEqual([payoutAccount, ...ofBuyer()])
  for (const proof of answer.data) expect(verify(proof, await published())).toBe(true)
  market.idp.unlink(sub, 'wallets')
  expect(await get({ bearer: token })).toMatchObject({ data: [], omitted: 0 })
})

test('200: for an agent, those of its owner wallet and the payouts to its payout address', async () => {
  const owned = await makeOwnedAgent(market, {}, signerOf(buyer))
  expect(accountsOf(await get({ bearer: owned.apiKey }))).toEqual(ofBuyer())

  const agent = await makeAgent(market)
  const payAt = ({ apiKey }: { apiKey: string }, address: string) =>
    market.client().patch('/api/agents/me', { payout_address_base: address }, { bearer: apiKey })
  expect((await payAt(agent, payee.address)).status).toBe(200)
  expect(accountsOf(await get({ bearer: agent.apiKey }))).toEqual([payoutAccount])
  // Any agent can set another user's wallet as payout address, so its purchases are not returned.
  const other = await makeAgent(market)
  expect((await payAt(other, otherUser.address)).status).toBe(200)
  expect(await get({ bearer: other.apiKey })).toMatchObject({ data: [], omitted: 0 })
})

test('200: is empty for an account without a balance', async () => {
  expect(await get(await asWallet(newAccount()))).toMatchObject({ data: [], omitted: 0 })
  expect(await get({ bearer: (await makeAgent(market)).apiKey })).toMatchObject({ data: [], omitted: 0 })
})

test('200: proofs of an earlier snapshot are returned by its id', async () => {
  const ask = await asWallet(buyer)
  const before = await get(ask)
  await treasury.takeSnapshot(true)
  const newest = await get(ask)
  expect(newest.data[0]).not.toMatchObject({ snapshot_id: snapshotId })
  expect(await get(await asWallet(buyer), `?snapshot_id=${snapshotId}`)).toEqual(before)
})

test('200: a liability of an unknown payer is returned to a caller who names its account', async () => {
  // Newly issued USDC has no payer.
  const reference = await network.mint(treasury.account.address, 420_000n)
  await network.mine(CONFIRMATIONS)
  await treasury.watch()
  await treasury.takeSnapshot(true)
  const account = `suspense:${NETWORK}:${reference}`
  const answer = await get({ bearer: (await makeAgent(market)).apiKey }, `?account=${account}`)
  expect(answer).toMatchObject({ data: [{ leaf: { account, holder: '', micros: '420000' } }], omitted: 0 })
  expect(verify(answer.data[0], await published())).toBe(true)
  // One with a holder is returned to the holder only.
  const owned = `escrow:${NETWORK}:order:c`
  expect(accountsOf(await get(await asWallet(buyer), `?account=${owned}`))).toEqual([owned])
  expect(accountsOf(await get(await asWallet(otherUser), `?account=${owned}`))).toEqual([])
})

test('404: the leaves of the snapshot are not stored', async () => {
  const id = `rsv_1_${'0'.repeat(17)}`
  const answer = await market.client().get(`${PATH}?snapshot_id=${id}`, await asWallet(buyer))
  rejected(answer, 404, 'not_found')
  expect(answer.body.error).toContain('Omit snapshot_id')
})

test('400: an invalid snapshot id or account', async () => {
  invalid(await market.client().get(`${PATH}?snapshot_id=latest`, await asWallet(buyer)), 'snapshot_id')
  invalid(await market.client().get(`${PATH}?account=fees`, await asWallet(buyer)), 'account')
})

test('400: an invalid limit, and an unknown query field', async () => {
  const ask = await asWallet(buyer)
  for (const limit of ['0', '101', 'all'])
    invalid(await market.client().get(`${PATH}?limit=${limit}`, ask), 'limit')
  invalid(await market.client().get(`${PATH}?holder=${otherUser.address}`, ask), '')
})

test('403: an admin key, which has no liabilities', async () => {
  rejected(await market.client().get(PATH, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

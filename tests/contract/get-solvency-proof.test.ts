import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations } from '@market/contract/operations'
import { type EvmNetwork, startEvmNetwork } from '@market/testing/evm-network'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fundedPayer, newAccount } from '../chains/evm-world.ts'
import { NETWORK, openTreasury, type Treasury } from '../reserves/treasury.ts'
import { commonErrors } from '../support/common-errors.ts'
import type { Subject } from '../support/good-call.ts'
import { asHeaders, makeAgent, makeOwnedAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-away.ts'
import { ADMIN_KEY } from '../support/settings.ts'

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

test('200: a wallet reads what is owed to it, largest first, and the documented code proves each', async () => {
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

test('200: any other amount, place or sum is not proven by the documented code', async () => {
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

test('200: beside the own leaves only hashes and sums leave', async () => {
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

test('200: as few as are asked for, and how many were left out', async () => {
  const answer = await get(await asWallet(buyer), '?limit=1')
  expect(accountsOf(answer)).toEqual([`escrow:${NETWORK}:order:c`])
  expect(answer.omitted).toBe(2)
})

test('200: a person reads for the wallets that are linked now, and nobody else’s', async () => {
  const { sub, token } = await makeUser(market, { wallets: [buyer.address, payee.address] })
  const answer = await get({ bearer: token })
  expect(accountsOf(answer)).toEqual([payoutAccount, ...ofBuyer()])
  for (const proof of answer.data) expect(verify(proof, await published())).toBe(true)
  market.idp.unlink(sub, 'wallets')
  expect(await get({ bearer: token })).toMatchObject({ data: [], omitted: 0 })
})

test('200: an agent reads for its owner’s wallet, and of its payout address only what is paid out there', async () => {
  const owned = await makeOwnedAgent(market, {}, signerOf(buyer))
  expect(accountsOf(await get({ bearer: owned.apiKey }))).toEqual(ofBuyer())

  const agent = await makeAgent(market)
  const payAt = (address: string) =>
    market.client().patch('/api/agents/me', { payout_address_base: address }, { bearer: agent.apiKey })
  expect((await payAt(payee.address)).status).toBe(200)
  expect(accountsOf(await get({ bearer: agent.apiKey }))).toEqual([payoutAccount])
  // Somebody else's wallet, which anybody can name: its purchases are not told.
  expect((await payAt(otherUser.address)).status).toBe(200)
  expect(await get({ bearer: agent.apiKey })).toMatchObject({ data: [], omitted: 0 })
})

test('200: is empty for an account without a balance', async () => {
  expect(await get(await asWallet(newAccount()))).toMatchObject({ data: [], omitted: 0 })
  expect(await get({ bearer: (await makeAgent(market)).apiKey })).toMatchObject({ data: [], omitted: 0 })
})

test('400: an invalid limit, and an unknown query field', async () => {
  const ask = await asWallet(buyer)
  for (const limit of ['0', '101', 'all'])
    invalid(await market.client().get(`${PATH}?limit=${limit}`, ask), 'limit')
  invalid(await market.client().get(`${PATH}?holder=${otherUser.address}`, ask), '')
})

test('403: an operator’s key has nothing of its own', async () => {
  rejected(await market.client().get(PATH, { bearer: ADMIN_KEY }), 403, 'wrong_credential')
})

import { operations } from '@market/contract/operations'
import { suspense } from '@market/money/ledger'
import { evmSigner } from '@market/testing/evm-signer'
import { solanaSigner } from '@market/testing/solana-signer'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { badSignatures } from '../support/bad-signatures.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, makeAgent, makeUser, signed } from '../support/makers.ts'
import { type Market, startMarket } from '../support/market.ts'
import { decideByTwo } from '../support/operator.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { rejectsWithoutProvider } from '../support/rejects-while-unavailable.ts'
import { ADMIN_KEY } from '../support/settings.ts'
import { auditOf, balanceIn, makeClaimed, makeUnmatched, NETWORK, someHash } from '../support/treasury.ts'
import type { Subject } from '../support/valid-request.ts'

const NOTE = 'Withdrawal 4711 of my account at the exchange'
const idOf = (reference: string, kind = 'suspense', network: string = NETWORK) =>
  `${kind}:${network}:${reference}`
const pathOf = (id: string) => `/api/unmatched-transfers/${id}/refund`

let market: Market
beforeAll(async () => {
  market = await startMarket({}, { chains: [NETWORK] })
})
afterAll(() => market.stop())

type Signer = Parameters<typeof signed>[0]

const claim = async (signer: Signer, id: string, body: object = {}) => {
  const proof = await signed(signer, `unmatched-transfers.refund:${id}`, market.now())
  return market.client().post(pathOf(id), body, { headers: asHeaders(proof) })
}

/** A transfer that paid for nothing, and the wallet that sent it. */
async function makeSent() {
  const sender = evmSigner()
  const { reference } = await makeUnmatched(market.db, { payer: sender.address.toLowerCase() })
  return { sender, reference, id: idOf(reference) }
}

const inSuspense = (reference: string) => balanceIn(market.db, suspense(NETWORK, reference))

const payoutsOf = (reference: string) =>
  market.db
    .selectFrom('payouts')
    .select(['payee', 'amount_micros', 'kind'])
    .where('subject', '=', `suspense:base:${reference}`)
    .execute()

let spare = ''
const subject: Subject = {
  market: () => market,
  operation: operations.claimRefund,
  good: async () => {
    const [first, second] = [await makeSent(), await makeSent()]
    const { token } = await makeUser(market, { wallets: [first.sender.address, second.sender.address] })
    spare = pathOf(second.id)
    return { path: pathOf(first.id), body: {}, ask: { bearer: token } }
  },
}
commonWriteErrors({ ...subject, other: (call) => ({ ...call, path: spare }) })
rejectsWithoutProvider(subject, pathOf(idOf(someHash())), {})

test('200: the sender’s signature returns the money to the sender, once', async () => {
  const { sender, reference, id } = await makeSent()
  const payee = sender.address.toLowerCase()
  const { status, body } = await claim(sender, id)
  expect(status).toBe(200)
  expect(body).toEqual({
    success: true,
    data: { id, status: 'refunding', amount_usd: '5.00', network: NETWORK, payee },
  })
  expect((await claim(sender, id)).body).toEqual(body)
  expect(await payoutsOf(reference)).toEqual([{ payee, amount_micros: 5_000_000n, kind: 'surplus' }])
  expect(await inSuspense(reference)).toBe(0n)
  const [entry] = await auditOf(market.db, reference)
  expect(entry).toMatchObject({ act: 'transfer.refund_claimed', actor: `wallet:${payee}` })
})

test('202: a claim of another wallet moves nothing; operators see it and pay it when two of them approve', async () => {
  const { reference, id } = await makeSent()
  const claimant = evmSigner()
  const wallet = claimant.address.toLowerCase()
  const { status, body } = await claim(claimant, id, { note: NOTE })
  expect(status).toBe(202)
  expect(body.data).toEqual({
    id,
    status: 'waits_for_operators',
    amount_usd: null,
    network: NETWORK,
    payee: wallet,
  })
  expect(await inSuspense(reference)).toBe(5_000_000n)
  const list = await market.client().get('/api/admin/unmatched-transfers?limit=100', { bearer: ADMIN_KEY })
  const listed = list.body.data.find((one: { id: string }) => one.id === id)
  expect(listed.claims).toEqual([{ wallet, note: NOTE, created_at: expect.any(String) }])
  const payload = { unmatched_id: id, payee: claimant.address }
  expect((await decideByTwo(market, 'refund_unmatched', payload)).status).toBe(200)
  expect(await payoutsOf(reference)).toEqual([{ payee: wallet, amount_micros: 5_000_000n, kind: 'surplus' }])
})

test('202: a second claim of the same wallet replaces its note', async () => {
  const { id } = await makeSent()
  const claimant = evmSigner()
  for (const note of ['first', 'second']) expect((await claim(claimant, id, { note })).status).toBe(202)
  const rows = await market.db
    .selectFrom('refund_requests')
    .select('note')
    .where('unmatched_id', '=', id)
    .execute()
  expect(rows).toEqual([{ note: 'second' }])
})

test('400: an invalid id, no note when another wallet sent it, a wallet of another chain', async () => {
  const { id } = await makeSent()
  invalid(await claim(evmSigner(), idOf('0x12')), 'unmatched_id')
  invalid(await claim(evmSigner(), id), 'note')
  invalid(await claim(await solanaSigner(), id, { note: NOTE }), 'wallet')
})

test('401: invalid signatures, and a signature that was used', async () => {
  const signer = await solanaSigner()
  const id = idOf(someHash())
  const purpose = `unmatched-transfers.refund:${id}`
  for (const [code, proof] of await badSignatures(signer, purpose, market.now()))
    rejected(await market.client().post(pathOf(id), {}, { headers: asHeaders(proof) }), 401, code)
  const own = await makeSent()
  const headers = asHeaders(await signed(own.sender, `unmatched-transfers.refund:${own.id}`, market.now()))
  expect((await market.client().post(pathOf(own.id), {}, { headers })).status).toBe(200)
  rejected(await market.client().post(pathOf(own.id), {}, { headers }), 401, 'signature_used')
})

test('403: a user without the wallet, an agent and an admin key', async () => {
  const { reference, id } = await makeSent()
  const { token } = await makeUser(market)
  rejected(await market.client().post(pathOf(id), {}, { bearer: token }), 403, 'wrong_wallet')
  for (const bearer of [(await makeAgent(market)).apiKey, ADMIN_KEY])
    rejected(await market.client().post(pathOf(id), {}, { bearer }), 403, 'wrong_credential')
  expect(await inSuspense(reference)).toBe(5_000_000n)
})

test('404: an unknown transfer', async () => {
  rejected(await claim(evmSigner(), idOf(someHash())), 404, 'not_found')
})

test('409: a transfer that is not final, and one whose money is gone', async () => {
  const sender = evmSigner()
  const payer = sender.address.toLowerCase()
  const seen = await makeUnmatched(market.db, { state: 'seen', payer })
  rejected(await claim(sender, idOf(seen.reference)), 409, 'conflict')
  const { reference } = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n })
  rejected(await claim(sender, idOf(reference), { note: NOTE }), 409, 'conflict')
})

test('409: the payer of a claimed transfer cannot take what others sent in the same transaction', async () => {
  const { reference } = await makeClaimed(market.db, { due: 1_000_000n, paid: 1_000_000n, beside: 70_000n })
  const sender = evmSigner()
  const payer = sender.address.toLowerCase()
  await market.db.updateTable('transfers').set({ payer }).where('reference', '=', reference).execute()
  invalid(await claim(sender, idOf(reference)), 'note')
  expect(await inSuspense(reference)).toBe(70_000n)
})

test('409: money below the minimum payout stays, whoever claims it', async () => {
  const sender = evmSigner()
  const payer = sender.address.toLowerCase()
  const { reference } = await makeUnmatched(market.db, { payer, amount: 49_999n })
  rejected(await claim(sender, idOf(reference)), 409, 'below_minimum')
  const other = await claim(evmSigner(), idOf(reference), { note: NOTE })
  rejected(other, 409, 'below_minimum')
  expect(other.body.error).toContain('below the minimum payout of 0.05 USDC on base-mainnet')
  expect(await inSuspense(reference)).toBe(49_999n)
})

test('409: more than 50 wallets claim the same money', async () => {
  const { id } = await makeSent()
  const others = Array.from({ length: 50 }, (_, n) => ({
    unmatched_id: id,
    wallet: `0x${String(n).padStart(40, '0')}`,
    note: NOTE,
    created_at: new Date(),
  }))
  await market.db.insertInto('refund_requests').values(others).execute()
  rejected(await claim(evmSigner(), id, { note: NOTE }), 409, 'too_many_claims')
})

import { createHash } from 'node:crypto'
import { operations } from '@market/contract/operations'
import { solanaSigner } from '@market/testing/solana-signer'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_DHKEM_X25519_HKDF_SHA256 } from 'hpke'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  insertOperation,
  makeWalletAgent,
  NO_AGENT,
  signedBy,
  startWalletMarket,
  type WalletMarket,
  walletOf,
} from '../support/agent-wallets.ts'
import { badSignatures } from '../support/bad-signatures.ts'
import type { RequestOptions } from '../support/client.ts'
import { commonWriteErrors } from '../support/common-errors.ts'
import { asHeaders, DESCRIPTION, makeAgent, makeOwnedAgent, makeUser } from '../support/makers.ts'
import { invalid, rejected } from '../support/rejected.ts'
import { ADMIN_KEY, SHORT_WAIT } from '../support/settings.ts'
import type { Subject } from '../support/valid-request.ts'

const SUITE = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM)
const pathOf = (id: string) => `/api/agents/${id}/export-key`
const purposeOf = (id: string, key: string) => `wallets.export:${id}:${key}`

async function newKey() {
  const pair = await SUITE.GenerateKeyPair()
  const bytes = await SUITE.SerializePublicKey(pair.publicKey)
  return { pair, public_key: Buffer.from(bytes).toString('base64url') }
}

type Api = Pick<WalletMarket, 'client'>
let market: WalletMarket
beforeAll(async () => {
  market = await startWalletMarket()
})
afterAll(() => market.stop())

type OwnedAgent = Awaited<ReturnType<typeof makeWalletAgent>>

const exportKey = (id: string, body: unknown, ask?: RequestOptions, { client }: Api = market) =>
  client().post(pathOf(id), body, ask)

const exportSigned = async (
  { id, owner }: { id: string; owner: Parameters<typeof signedBy>[0] },
  public_key: string,
  api?: Api,
) => exportKey(id, { public_key }, await signedBy(owner, purposeOf(id, public_key)), api)

let last: OwnedAgent
const subject: Subject = {
  market: () => market,
  operation: operations.exportKey,
  good: async () => {
    last = await makeWalletAgent(market)
    const { public_key } = await newKey()
    const ask = await signedBy(last.owner, purposeOf(last.id, public_key))
    return { path: pathOf(last.id), body: { public_key }, ask }
  },
}
commonWriteErrors({
  ...subject,
  waits: true,
  other: async () => ({
    method: 'PATCH',
    path: `/api/agents/${last.id}`,
    body: { description: DESCRIPTION },
    ask: await signedBy(last.owner, `agents.update:${last.id}`),
  }),
})

test('200: only the private key opens the seed; the same key reads it again, and the owner is notified', async () => {
  const agent = await makeOwnedAgent(market)
  const { pair, public_key } = await newKey()
  const { status, body } = await exportSigned(agent, public_key)
  expect(status).toBe(200)
  const address = await walletOf(market, agent.id)
  expect(body.data).toMatchObject({
    ...{ kind: 'export', status: 'done', address, tx_signature: null, asset: null, failure: null },
    info: `agent-market export ${agent.id} ${address}`,
  })
  const bytesOf = (text: string) => Buffer.from(text, 'base64url')
  const { encapsulated_key, ciphertext, info } = body.data
  const seed = await SUITE.Open(pair, bytesOf(encapsulated_key), bytesOf(ciphertext), {
    info: Buffer.from(info),
  })
  expect((await createKeyPairSignerFromPrivateKeyBytes(seed)).address).toBe(address)
  expect((await exportSigned(agent, public_key)).body).toEqual(body)
  const funding = await market.client().get('/api/agents/me/funding', { bearer: agent.apiKey })
  expect(funding.body.data.exported_at).toBe(body.data.created_at)
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  const inbox = await market.client().get('/api/notifications', { bearer: token })
  expect(inbox.body.data).toMatchObject([{ kind: 'agent.wallet_exported' }])
  expect(market.logText()).not.toContain(createHash('sha256').update(seed).digest('hex'))
})

test('202: not done when the wait ends; repeated with the same key it returns the result', async () => {
  const agent = await makeOwnedAgent(market)
  const { public_key } = await newKey()
  const api = await market.startApi(SHORT_WAIT)
  const { status, body } = await market.whilePaused(() => exportSigned(agent, public_key, api))
  expect(status).toBe(202)
  expect(body.data).toMatchObject({ status: 'requested', encapsulated_key: null, ciphertext: null })
  const repeated = await exportSigned(agent, public_key)
  expect(repeated.status).toBe(200)
  expect(repeated.body.data).toMatchObject({ operation_id: body.data.operation_id, status: 'done' })
  expect(repeated.body.data.ciphertext).toMatch(/^[A-Za-z0-9_-]{64}$/)
})

test('400: an invalid id, and a public key that is not 32 bytes as base64url', async () => {
  const { id, owner } = await makeOwnedAgent(market)
  const { public_key } = await newKey()
  invalid(await exportSigned({ id: 'agt_', owner }, public_key), 'agent_id')
  for (const key of ['', 'A'.repeat(42), 'A'.repeat(44), `${'A'.repeat(42)}=`, `${'A'.repeat(42)}+`])
    invalid(await exportSigned({ id, owner }, key), 'public_key')
})

test('401: a signature that is expired, was used before or names another public key', async () => {
  const agent = await makeWalletAgent(market)
  const { public_key } = await newKey()
  const purpose = purposeOf(agent.id, public_key)
  for (const [code, proof] of await badSignatures(await solanaSigner(), purpose, market.wallTime()))
    rejected(await exportKey(agent.id, { public_key }, { headers: asHeaders(proof) }), 401, code)
  const other = await signedBy(agent.owner, purposeOf(agent.id, (await newKey()).public_key))
  rejected(await exportKey(agent.id, { public_key }, other), 401, 'bad_signature')
  const once = await signedBy(agent.owner, purpose)
  expect((await exportKey(agent.id, { public_key }, once)).status).toBe(200)
  rejected(await exportKey(agent.id, { public_key }, once), 401, 'signature_used')
})

test('403: the API key, the owner’s login, another wallet, and an agent without an owner wallet', async () => {
  const agent = await makeOwnedAgent(market)
  const { public_key } = await newKey()
  const { token } = await makeUser(market, { wallets: [agent.owner.address] })
  for (const bearer of [agent.apiKey, token, ADMIN_KEY])
    rejected(await exportKey(agent.id, { public_key }, { bearer }), 403, 'wrong_credential')
  const owner = await solanaSigner()
  rejected(await exportSigned({ id: agent.id, owner }, public_key), 403, 'not_your_agent')
  const { id } = await makeAgent(market)
  rejected(await exportSigned({ id, owner }, public_key), 403, 'owner_wallet_required')
})

test('404: an agent that does not exist', async () => {
  const owner = await solanaSigner()
  const { public_key } = await newKey()
  rejected(await exportSigned({ id: NO_AGENT, owner }, public_key), 404, 'agent_not_found')
})

test('409: another key within 24 hours, and a wallet that is busy', async () => {
  const agent = await makeOwnedAgent(market)
  expect((await exportSigned(agent, (await newKey()).public_key)).status).toBe(200)
  rejected(await exportSigned(agent, (await newKey()).public_key), 409, 'exported_today')
  const busy = await makeOwnedAgent(market)
  await market.whilePaused(async () => {
    const operation_id = await insertOperation(market, busy.id, { kind: 'identity' })
    rejected(await exportSigned(busy, (await newKey()).public_key), 409, 'wallet_busy', { operation_id })
  })
})

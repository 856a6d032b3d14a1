import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { DAY, HOUR } from '@market/kernel/clock'
import { solanaSigner } from '@market/testing/solana-signer'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { AEAD_AES_256_GCM, CipherSuite, KDF_HKDF_SHA256, KEM_DHKEM_X25519_HKDF_SHA256 } from 'hpke'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { untilNotified } from '../support/agent-wallets.ts'
import { cliHere } from '../support/cli.ts'
import type { ServerProcess } from '../support/processes.ts'
import { until } from '../support/until.ts'
import {
  callsOf,
  lamportsOf,
  makeWalletAgent,
  newAddress,
  SOL,
  signerContext,
  startWalletMarket,
  type WalletMarket,
} from './wallet-market.ts'

let world: WalletMarket
let worker: ServerProcess
beforeAll(async () => {
  world = await startWalletMarket({ LOG_LEVEL: 'debug' })
  worker = await world.market.startWorker({ SWEEP_INTERVAL_MS: '100', LOG_LEVEL: 'debug' })
})
afterAll(() => world.market.stop())

/** The newest operation of the agent once it has ended. */
const ended = async (calls: ReturnType<typeof callsOf>, status = 'done') => {
  await until('the operation has ended', async () => {
    const { body } = await calls.operations()
    return body.data[0].status === status
  })
  return (await calls.operations()).body.data[0]
}

test('launch: creates one mint, charges what the funding record says, and shows the token on the profile', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const { body: before } = await calls.funding()
  expect(before.data).toMatchObject({ deposit_address: agent.wallet, balance_sol: 1, balance_usdc: 0 })
  expect([200, 202]).toContain((await calls.launch()).status)
  const { mint, tx_signature } = await ended(calls)

  const token = await world.market.client().get(`/api/agents/${agent.id}/token`)
  expect(token.body.data).toMatchObject({
    token_mint: mint,
    token_symbol: 'PAINT',
    token_mode: 'token2022',
    token_creator_wallet: agent.wallet,
    token_tx_hash: tx_signature,
  })
  const profile = await world.market.client().get(`/api/agents/${agent.id}`)
  expect(profile.body.data.agent.token_mint).toBe(mint)
  const { body: after } = await calls.funding()
  const cost = Math.round((1 - after.data.balance_sol) * 1e9)
  expect(cost).toBeLessThanOrEqual(Math.round(before.data.requirements.launch.cost_sol * 1e9))
  expect(cost).toBeGreaterThan(0)
  const supply = (await world.solana.chain.call('getTokenSupply', mint)) as { value: { amount: string } }
  expect(supply.value.amount).toBe('1000000000000000')
  expect(await calls.launch('OTHER')).toMatchObject({ status: 409, body: { code: 'token_exists' } })
  const feed = await world.market.client().get('/api/metrics/activity?filter=token_launch')
  expect(JSON.stringify(feed.body.data)).toContain(agent.id)
})

test('said: mints one identity and shows it on the profile', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  await calls.said()
  const { mint } = await ended(calls)
  const profile = await world.market.client().get(`/api/agents/${agent.id}`)
  expect(profile.body.data.agent.identity_mint).toBe(mint)
  await calls.said()
  expect((await calls.operations()).body.data).toHaveLength(1)
})

test('withdraw: goes to the address that the owner set 24 hours before, and to no other', async () => {
  const agent = await makeWalletAgent(world, { usdc: 5_000_000n, owner: await solanaSigner() })
  const calls = callsOf(world, agent)
  expect((await calls.withdraw({ asset: 'USDC' })).body.code).toBe('no_withdraw_address')
  const to = await newAddress()
  expect((await calls.setAddress(to)).body.data).toMatchObject({
    withdraw_address: null,
    pending_address: to,
  })
  await untilNotified(world.market, agent.id)
  await world.market.advance(23 * HOUR)
  expect((await calls.withdraw({ asset: 'USDC' })).body.code).toBe('no_withdraw_address')
  await world.market.advance(2 * HOUR)
  expect([200, 202]).toContain((await calls.withdraw({ asset: 'USDC' })).status)
  expect(await ended(calls)).toMatchObject({ kind: 'withdraw', amount: 5, to })
  expect(await world.solana.usdc.balanceOf(to)).toBe(5_000_000n)
  expect(await world.solana.usdc.balanceOf(agent.wallet)).toBe(0n)
})

test('market wallet: shows balances and addresses, withdraws, lists operations, and prints no secret', async () => {
  const agent = await makeWalletAgent(world, { usdc: 2_500_000n, owner: await solanaSigner() })
  const here = { MARKET_API_URL: world.market.url }
  expect(await cliHere('/nonexistent', here).error(['wallet'])).toMatchObject({
    code: 'no_api_key',
    next: 'market login --api-key',
  })
  const cli = cliHere('/nonexistent', { ...here, MARKET_API_KEY: agent.apiKey })
  const shown = await cli.run(['wallet'])
  expect(shown).toMatchObject({ status: 0, error: '' })
  expect(shown.out).toContain(`address       ${agent.wallet}\nSOL           1\nUSDC          2.5\n`)
  expect(shown.out).toContain('withdraws to  nowhere yet')
  expect(await cli.error(['wallet', 'withdraw', '--asset', 'usdc'])).toMatchObject({
    code: 'no_withdraw_address',
    status: 409,
    next: 'market wallet',
  })
  const to = await newAddress()
  await callsOf(world, agent).setAddress(to)
  expect((await cli.run(['wallet'])).out).toMatch(new RegExp(`^from +\\S+: ${to}$`, 'm'))
  await untilNotified(world.market, agent.id)
  await world.market.advance(25 * HOUR)
  const withdrawal = await cli.json('wallet', 'withdraw', '--asset', 'usdc', '--amount', '1.5')
  expect(withdrawal).toMatchObject({ asset: 'USDC', amount: 1.5, to })
  await until('the withdrawal is done', async () => {
    const { data } = await cli.json('wallet', 'operations')
    return data[0].status === 'done'
  })
  expect(await cli.json('wallet')).toMatchObject({ balance_usdc: 1, withdraw_address: to })
  const listed = await cli.run(['wallet', 'operations'])
  expect(listed.out).toMatch(/withdraw +done +1\.5 USDC/)
  for (const { out, error } of [shown, listed, await cli.run(['wallet', '--json'])])
    expect(out + error).not.toMatch(/market_|secret|seed|private/)
})

test('send: everything leaves the wallet by the owner’s signature', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const to = await newAddress()
  expect([200, 202]).toContain((await calls.send({ asset: 'SOL', to, amount: 0.25 })).status)
  expect(await ended(calls)).toMatchObject({ amount: 0.25, to })
  expect(await lamportsOf(world, to)).toBe(SOL / 4n)
  await calls.send({ asset: 'SOL', to })
  await until('the wallet is empty', async () => (await lamportsOf(world, agent.wallet)) === 0n)
})

test('export: only the key that the signature names opens the secret, which then signs for the wallet', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const suite = new CipherSuite(KEM_DHKEM_X25519_HKDF_SHA256, KDF_HKDF_SHA256, AEAD_AES_256_GCM)
  const pair = await suite.GenerateKeyPair(true)
  const publicKey = Buffer.from(await suite.SerializePublicKey(pair.publicKey)).toString('base64url')
  const { status, body } = await calls.exportTo(publicKey)
  expect(status).toBe(200)
  const { encapsulated_key, ciphertext, info, address } = body.data
  const bytes = (text: string) => Buffer.from(text, 'base64url')
  const seed = await suite.Open(pair, bytes(encapsulated_key), bytes(ciphertext), { info: Buffer.from(info) })
  expect((await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(seed))).address).toBe(agent.wallet)
  expect(address).toBe(agent.wallet)
  expect((await calls.exportTo('A'.repeat(43))).body.code).toBe('exported_today')
  expect((await calls.funding()).body.data.exported_at).not.toBeNull()
  await world.market.advance(DAY)
  await until('the sealed key is deleted', async () => {
    const rows = await world.market.db
      .selectFrom('wallet_transactions')
      .select('exported_key')
      .where('agent_id', '=', agent.id)
      .execute()
    return rows.every(({ exported_key }) => exported_key === null)
  })
})

test('after all of this, neither a dump of the database nor a log contains a seed', async () => {
  const { stdout: dump } = await promisify(execFile)(
    'pg_dump',
    ['--format=plain', world.market.database.url],
    {
      maxBuffer: 2 ** 28,
    },
  )
  const rows = await world.market.db.selectFrom('agent_wallets').selectAll().execute()
  expect(rows.length).toBeGreaterThanOrEqual(5)
  const { seeds } = signerContext(world)
  for (const { agent_id, address, secret_sealed } of rows) {
    expect(dump).toContain(address)
    const seed = await seeds.open(secret_sealed, {
      row: `agent_wallets:${agent_id}:solana:${address}`,
      field: 'secret',
    })
    const forms = (['hex', 'base64', 'base64url', 'latin1'] as const).map((form) =>
      seed.toString(form).replace(/=+$/, ''),
    )
    for (const text of [dump, world.market.logText(), worker.output()])
      expect(forms.filter((form) => text.includes(form))).toEqual([])
  }
})

import { evmSigner } from '@market/testing/evm-signer'
import { smartWallet } from '@market/testing/smart-wallet'
import { createTestClient, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { asHeaders, signed } from '../support/makers.ts'
import { startMarket } from '../support/market.ts'
import { rejected } from '../support/rejected.ts'

/** The session of a smart wallet, whose contract on a real chain is asked again whether it accepts the signature. */

const startWorld = () => startMarket({}, { chains: ['base-mainnet'] })
let market: Awaited<ReturnType<typeof startWorld>>
beforeAll(async () => {
  market = await startWorld()
})
afterAll(() => market.stop())

test('the session goes on while the contract accepts the signature that started it, and ends when it does not', async () => {
  const { url } = market.chains['base-mainnet'].chain
  const wallet = await smartWallet(url, evmSigner())
  await wallet.deploy()
  const headers = asHeaders(await signed(wallet, 'sessions.start'))
  const started = await market.client().post('/api/auth/session', {}, { headers })
  expect(started.status).toBe(201)
  const cookie = started.headers.get('set-cookie')?.split(';')[0] ?? ''
  const read = () =>
    market.client().get('/api/orders', { headers: { cookie, 'sec-fetch-site': 'same-origin' } })
  const stored = () => market.db.selectFrom('sessions').select('checked_at').execute()
  const longAgo = new Date(Date.now() - 600_000)
  await market.db.updateTable('sessions').set({ checked_at: longAgo }).execute()
  expect((await read()).status).toBe(200)
  expect((await stored())[0]?.checked_at?.getTime()).toBeGreaterThan(longAgo.getTime())
  const anvil = createTestClient({ mode: 'anvil', transport: http(url) })
  await anvil.setCode({ address: wallet.address, bytecode: '0x' })
  expect((await read()).status).toBe(200)
  await market.db.updateTable('sessions').set({ checked_at: longAgo }).execute()
  rejected(await read(), 401, 'bad_token')
  expect(await stored()).toEqual([])
})

import type { SwitchName } from '@market/contract/define'
import { operations } from '@market/contract/operations'
import { CLI_CLIENT_ID } from '@market/testing/idp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commonErrors } from '../support/common-errors.ts'
import { startMarket } from '../support/market.ts'
import { turn as turnSwitch } from '../support/operator.ts'
import { rejected } from '../support/rejected.ts'
import { FILES_URL } from '../support/settings.ts'

const PATH = '/api/config'

const start = () =>
  startMarket(
    {
      BASE_CONFIRMATIONS: '1000:final,0:2',
      BASE_EXPLORER_TX_URL: 'https://explorer.example/tx/{hash}',
      BASE_PUBLIC_RPC_URL: 'https://node.example',
      IDP_CLIENT_ID: 'market-web',
      IDP_CLIENT_SECRET: 'a-secret-of-the-client',
      REGISTRATION_FEE_USDC: '2',
      BASE_MIN_PAYOUT_USDC: '0.20',
      MIN_PRICE_USDC: '0.23',
    },
    { chains: ['base-mainnet'] },
  )
let market: Awaited<ReturnType<typeof start>>
beforeAll(async () => {
  market = await start()
})
afterAll(() => market.stop())

commonErrors({
  market: () => market,
  operation: operations.getConfig,
  good: async () => ({ path: PATH }),
})

const turn = (name: SwitchName, on: boolean) => turnSwitch(market, name, on)
const config = async () => (await market.client().get(PATH)).body.data

test('200: what the settings say, and nothing of the other ones', async () => {
  const { status, body } = await market.client().get(PATH)
  expect(status).toBe(200)
  const { environment, idp } = market
  expect(body).toEqual({
    success: true,
    data: {
      networks: [
        {
          network: 'base-mainnet',
          kind: 'evm',
          is_test: true,
          chain_id: 8_453,
          caip2: 'eip155:8453',
          usdc: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          usdc_decimals: 6,
          explorer_transaction_url: 'https://explorer.example/tx/{hash}',
          explorer_address_url: null,
          public_rpc_url: 'https://node.example',
          coin: 'ETH',
          min_payout_usd: '0.20',
          confirmations: [
            { from_usd: '0.00', until: 'blocks', blocks: 2 },
            { from_usd: '1000.00', until: 'final', blocks: null },
          ],
        },
      ],
      fees: { order_bps: 1_000, x402_bps: 1_000, bounty_bps: 1_000, registration_usd: '2.00' },
      min_price_usd: '0.23',
      identity_provider: {
        issuer: idp.issuer,
        audience: idp.audience,
        client_ids: { web: 'market-web', cli: CLI_CLIENT_ID },
        scopes: ['openid', 'profile', 'email'],
      },
      files_url: FILES_URL,
      stopped: { writes: false, intake: false, payouts: [] },
    },
  })
  const text = JSON.stringify(body)
  const secrets = Object.entries(environment).filter(([name]) =>
    /KEY|SECRET|(?<!PUBLIC_)RPC|DATABASE_URL|REDIS|TREASURY/.test(name),
  )
  expect(secrets.filter(([name, value]) => name !== 'IDP_ISSUER' && text.includes(value))).toEqual([])
})

test('200: switches that are on, without their reasons', async () => {
  for (const name of ['freeze_intake', 'freeze_payouts_base', 'read_only'] as const) await turn(name, true)
  const { status, body } = await market.client().get(PATH)
  expect(status).toBe(200)
  expect(body.data.stopped).toEqual({ writes: true, intake: true, payouts: ['base-mainnet'] })
  expect(JSON.stringify(body)).not.toContain('A test turns it')
  for (const name of ['read_only', 'freeze_intake', 'freeze_payouts_base'] as const) await turn(name, false)
  await turn('freeze_payouts', true)
  expect((await config()).stopped).toEqual({ writes: false, intake: false, payouts: ['base-mainnet'] })
  await turn('freeze_payouts', false)
  expect((await config()).stopped.payouts).toEqual([])
})

test('304: the same ETag, and 200 with another one after a switch is turned', async () => {
  const { headers } = await market.client().get(PATH)
  const etag = headers.get('etag') ?? ''
  expect(etag).toMatch(/^"[\w-]{43}"$/)
  expect(headers.get('cache-control')).toBe('public, max-age=0, s-maxage=10')
  const again = await fetch(market.url + PATH, { headers: { 'if-none-match': `W/${etag}` } })
  expect({ status: again.status, text: await again.text() }).toEqual({ status: 304, text: '' })
  await turn('freeze_intake', true)
  const changed = await market.client().get(PATH, { headers: { 'if-none-match': etag } })
  expect(changed.status).toBe(200)
  expect(changed.headers.get('etag')).not.toBe(etag)
  await turn('freeze_intake', false)
})

test('400: two different credentials', async () => {
  const bearer = `market_${'0'.repeat(49)}`
  rejected(await market.client().get(`${PATH}?idp_access_token=other`, { bearer }), 400, 'two_credentials')
})

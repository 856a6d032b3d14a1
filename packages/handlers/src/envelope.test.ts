import { operations } from '@market/contract/operations'
import { expect, test } from 'vitest'
import { envelope } from './envelope.ts'

test('envelope: drops fields that the output schema does not list, at every depth (asvs V1.1)', () => {
  const amounts = { pending_usd: '1.00', in_escrow_usd: '2.00', paid_out_usd: '3.00' }
  const of = (more: object) => ({
    ...amounts,
    ...more,
    by_network: [{ network: 'base-mainnet', ...amounts, ...more }],
  })
  const { body } = envelope(operations.getMyBalance, { data: of({ api_key_sealed: 'secret' }) })
  expect(body).toEqual({ success: true, data: of({}) })
})

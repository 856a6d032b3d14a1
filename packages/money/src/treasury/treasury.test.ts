import type { Needs } from '@market/core/context'
import { describe, expect, test } from 'vitest'
import { requirePayee } from './payee.ts'

describe('requirePayee', () => {
  const TREASURY = '0xTreasury'
  const ctx = {
    signatures: {
      // Reads `0x…` in any case and shows it with its checksum, here: as `0xPayee` or `0xTreasury`.
      parseWallet: (text: string) => {
        const shown = ['0xPayee', TREASURY].find((one) => one.toLowerCase() === text.toLowerCase())
        return shown === undefined ? undefined : { address: shown, key: shown.toLowerCase() }
      },
    },
    chains: { 'base-mainnet': { treasury: TREASURY, usdc: '0xUsdc' } },
  } as unknown as Needs<'signatures' | 'chains'>

  test('returns the key of an address that is written with its checksum', () => {
    expect(requirePayee(ctx, 'base-mainnet', '0xPayee')).toBe('0xpayee')
  })

  test.each([
    ['is no wallet of the network', '0xnobody', /must be a wallet on base-mainnet/],
    ['lacks its checksum', '0xpayee', /checksum/],
    ['is the treasury', TREASURY, /must not be the treasury/],
  ])('rejects an address that %s', (_, text, message) => {
    expect(() => requirePayee(ctx, 'base-mainnet', text)).toThrow(message)
  })
})

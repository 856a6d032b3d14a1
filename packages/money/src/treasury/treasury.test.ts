import type { Needs } from '@market/core/context'
import { describe, expect, test } from 'vitest'
import { pageOf, readCursor } from './cursor.ts'
import { requirePayee } from './payee.ts'

const AT = new Date('2026-03-01T12:00:00Z')
const FORM = /^row_\d+$/

describe('the cursor of a list', () => {
  const rows = ['row_1', 'row_2', 'row_3']
  const positionOf = (name: string) => ({ at: AT, name })

  test('pageOf: one row more than asked for means that there is a next page', () => {
    expect(pageOf(rows, 2, positionOf)).toEqual({
      rows: ['row_1', 'row_2'],
      nextCursor: `${AT.getTime()}.row_2`,
    })
    expect(pageOf(rows, 3, positionOf)).toEqual({ rows, nextCursor: null })
    expect(pageOf([], 3, positionOf)).toEqual({ rows: [], nextCursor: null })
  })

  test('readCursor: reads what pageOf wrote', () => {
    const { nextCursor } = pageOf(rows, 1, positionOf)
    expect(readCursor(nextCursor ?? '', FORM)).toEqual({ at: AT, name: 'row_1' })
    expect(readCursor(undefined, FORM)).toBeUndefined()
  })

  test.each([
    '',
    'row_1',
    '.row_1',
    '1.other_1',
    '1.row_1; drop',
    '-1.row_1',
    '1e5.row_1',
    '123456789012345.row_1',
  ])('readCursor: rejects %j', (cursor) => {
    expect(() => readCursor(cursor, FORM)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
})

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

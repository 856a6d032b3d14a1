import { expect, test } from 'vitest'
import { escrowAccount, formatPurpose, parsePurpose } from './purpose.ts'
import { inferNetwork, normalizeReference } from './reference.ts'

test('purpose: the stored text of each kind is parsed into the same purpose', () => {
  for (const purpose of [
    { kind: 'order', id: 'ord_1' },
    { kind: 'registration', id: 'pur_1:2' },
  ] as const)
    expect(parsePurpose(formatPurpose(purpose))).toEqual(purpose)
})

test('parsePurpose: throws for an unknown kind, a missing kind and a missing id', () => {
  for (const text of ['', 'order', 'order:', ':ord_1', 'gift:1', 'Order:ord_1'])
    expect(() => parsePurpose(text)).toThrow('is not a payment purpose')
})

test('escrowAccount: one account per network and purpose', () => {
  expect(escrowAccount('base-mainnet', { kind: 'order', id: 'ord_1' })).toEqual({
    kind: 'escrow',
    network: 'base-mainnet',
    subject: 'order:ord_1',
  })
})

test('normalizeReference: lower case on EVM networks, unchanged on Solana', () => {
  expect(normalizeReference('base-mainnet', '0xAB')).toBe('0xab')
  expect(normalizeReference('alt-mainnet', '0xAB')).toBe('0xab')
  expect(normalizeReference('solana-mainnet', 'AbC')).toBe('AbC')
})

test('inferNetwork: Base for hex, Solana for anything else', () => {
  expect([inferNetwork('0xAB'), inferNetwork('0Xab'), inferNetwork('5VERv8')]).toEqual([
    'base-mainnet',
    'base-mainnet',
    'solana-mainnet',
  ])
})

import { NETWORKS } from '@market/kernel/network'
import { expect, test } from 'vitest'
import { type OwnerWallet, payoutAddressOf, preferredFirst } from './payout-address.ts'
import type { PayoutSettings } from './payout-settings.ts'

const [SOLANA, BASE, ALT] = NETWORKS
const OWNER = `0x${'a'.repeat(40)}`
const CHOSEN = `0x${'b'.repeat(40)}`
const NONE: PayoutSettings & OwnerWallet = {
  payoutChain: null,
  payoutWallet: null,
  payoutAddressBase: null,
  ownerWallet: null,
  ownerProvenBy: null,
}

/** The addresses on Solana, Base and the third network. */
const addressesOf = (settings: Partial<PayoutSettings & OwnerWallet>) =>
  NETWORKS.map((network) => payoutAddressOf({ ...NONE, ...settings }, { ...NONE, ...settings }, network))

test('payoutAddressOf: an EVM owner wallet that signed with its key is paid on every EVM network', () => {
  expect(addressesOf({ ownerWallet: OWNER, ownerProvenBy: 'key' })).toEqual([null, OWNER, OWNER])
})

test('payoutAddressOf: an owner wallet that is proven on one network is paid only there', () => {
  expect(addressesOf({ ownerWallet: OWNER, ownerProvenBy: BASE })).toEqual([null, OWNER, null])
  expect(addressesOf({ ownerWallet: OWNER, ownerProvenBy: ALT })).toEqual([null, null, OWNER])
})

test('payoutAddressOf: a wallet that was proven before this was recorded is paid on Base only', () => {
  expect(addressesOf({ ownerWallet: OWNER })).toEqual([null, OWNER, null])
})

test('payoutAddressOf: payout_address_base is used on Base, and never on another EVM network', () => {
  expect(addressesOf({ payoutAddressBase: CHOSEN })).toEqual([null, CHOSEN, null])
  const both = { payoutAddressBase: CHOSEN, ownerWallet: OWNER }
  expect(addressesOf({ ...both, ownerProvenBy: 'key' })).toEqual([null, CHOSEN, OWNER])
  expect(addressesOf({ ...both, ownerProvenBy: BASE })).toEqual([null, CHOSEN, null])
})

test('payoutAddressOf: a Solana address is used on Solana only, payout_wallet before the owner wallet', () => {
  expect(addressesOf({ ownerWallet: 'So1', ownerProvenBy: 'key' })).toEqual(['So1', null, null])
  expect(addressesOf({ ownerWallet: 'So1', payoutWallet: 'So2' })).toEqual(['So2', null, null])
})

test('preferredFirst: the networks of payout_chain come first, and none is left out', () => {
  expect(preferredFirst({ payoutChain: null }, NETWORKS)).toEqual([SOLANA, BASE, ALT])
  expect(preferredFirst({ payoutChain: 'solana' }, NETWORKS)).toEqual([SOLANA, BASE, ALT])
  expect(preferredFirst({ payoutChain: 'base' }, NETWORKS)).toEqual([BASE, ALT, SOLANA])
})

import { HOUR, later } from '@market/kernel/clock'
import { describe, expect, test } from 'vitest'
import {
  cancelChange,
  cancelChangeOfKey,
  changePayout,
  confirmSetting,
  PAYOUT_DELAY_MS,
  type PayoutSettings,
  type PayoutState,
  payoutSettings,
  pendingPayout,
} from './payout-settings.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const NONE: PayoutSettings = { payoutChain: null, payoutWallet: null, payoutAddressBase: null }
const [OLD, NEW, THIEF] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]
const SOLANA = 'So11111111111111111111111111111111111111112'

const stateOf = (settings: Partial<PayoutSettings> = {}): PayoutState => ({
  settings: { ...NONE, ...settings },
  pending: null,
})
const byKey = { by: 'agent', isOwned: true, now: NOW } as const
const byOwner = { by: 'owner', isOwned: true, now: NOW } as const
const PAID = stateOf({ payoutAddressBase: OLD })

describe('changePayout', () => {
  test('the first value of an agent without an owner takes effect at once', () => {
    const change = { payoutAddressBase: NEW, payoutWallet: SOLANA, payoutChain: 'base' as const }
    expect(changePayout(stateOf(), change, { ...byKey, isOwned: false })).toEqual(stateOf(change))
  })

  test.each([
    ['the first value of an agent with an owner, by the key', stateOf(), byKey],
    ['the first value of an agent with an owner, by the owner', stateOf(), byOwner],
    ['another value of an agent without an owner', PAID, { ...byKey, isOwned: false }],
    ['another value of an agent with an owner', PAID, byKey],
  ])('%s is pending', (_when, state, request) => {
    const changed = changePayout(state, { payoutAddressBase: NEW }, request)
    expect(changed.settings).toEqual(state.settings)
    expect(changed.pending).toEqual({
      ...NONE,
      payoutAddressBase: NEW,
      since: NOW,
      by: request.by,
    })
  })

  test('removing a value is pending', () => {
    expect(changePayout(PAID, { payoutAddressBase: null }, byKey).pending).toMatchObject(NONE)
  })

  test.each([
    ['an address on another network', { payoutWallet: SOLANA }],
    ['the first payout chain', { payoutChain: 'solana' as const }],
  ])('%s is pending when an agent without an owner has an address', (_what, change) => {
    const { settings, pending } = changePayout(PAID, change, { ...byKey, isOwned: false })
    expect(settings).toEqual(PAID.settings)
    expect(pending).toMatchObject({ ...PAID.settings, ...change })
  })

  test('the first address takes effect at once when an agent without an owner has a payout chain', () => {
    const state = stateOf({ payoutChain: 'base' })
    const changed = changePayout(state, { payoutAddressBase: NEW }, { ...byKey, isOwned: false })
    expect(changed).toEqual(stateOf({ payoutChain: 'base', payoutAddressBase: NEW }))
  })

  test('the old value is paid until exactly 24 hours have passed', () => {
    const payout = changePayout(PAID, { payoutAddressBase: NEW }, byKey)
    const just = later(NOW, PAYOUT_DELAY_MS - 1)
    expect(payoutSettings({ payout }, just).payoutAddressBase).toBe(OLD)
    expect(pendingPayout({ payout }, just)).not.toBeNull()
    const due = later(NOW, PAYOUT_DELAY_MS)
    expect(payoutSettings({ payout }, due).payoutAddressBase).toBe(NEW)
    expect(pendingPayout({ payout }, due)).toBeNull()
  })

  test('a second change replaces the first and waits 24 hours again', () => {
    const first = changePayout(PAID, { payoutWallet: SOLANA }, byOwner)
    const now = later(NOW, 23 * HOUR)
    const { settings, pending } = changePayout(first, { payoutAddressBase: NEW }, { ...byKey, now })
    expect(settings).toEqual(PAID.settings)
    expect(pending).toEqual({ ...NONE, payoutAddressBase: NEW, since: now, by: 'agent' })
  })

  test('the same change again does not wait longer', () => {
    const first = changePayout(PAID, { payoutAddressBase: NEW }, byKey)
    const again = { ...byKey, now: later(NOW, HOUR) }
    expect(changePayout(first, { payoutAddressBase: NEW }, again)).toEqual(first)
  })

  test('the current value removes the pending change, but the key does not remove one of the owner', () => {
    const current = { payoutAddressBase: OLD }
    const ofKey = changePayout(PAID, { payoutAddressBase: THIEF }, byKey)
    expect(changePayout(ofKey, current, byKey)).toEqual(PAID)
    expect(changePayout(ofKey, current, byOwner)).toEqual(PAID)
    const ofOwner = changePayout(PAID, { payoutAddressBase: NEW }, byOwner)
    expect(changePayout(ofOwner, current, byKey)).toEqual(ofOwner)
    expect(changePayout(ofOwner, current, byOwner)).toEqual(PAID)
  })

  test('a change that is due is the state that the next one starts from', () => {
    const first = changePayout(PAID, { payoutAddressBase: NEW }, byKey)
    const now = later(NOW, PAYOUT_DELAY_MS)
    const { settings, pending } = changePayout(first, { payoutWallet: SOLANA }, { ...byKey, now })
    expect(settings.payoutAddressBase).toBe(NEW)
    expect(pending).toMatchObject({ payoutAddressBase: NEW, payoutWallet: SOLANA })
  })
})

describe('confirmSetting', () => {
  const two = changePayout(PAID, { payoutAddressBase: NEW, payoutWallet: SOLANA }, byKey)

  test('applies the named value only, in any case; the rest stays pending', () => {
    const confirmed = confirmSetting(two, NEW.toUpperCase().replace('0X', '0x'), NOW)
    expect(confirmed?.settings).toEqual({ ...PAID.settings, payoutAddressBase: NEW })
    expect(confirmed?.pending).toEqual(two.pending)
    const both = confirmed && confirmSetting(confirmed, SOLANA, NOW)
    expect(both).toEqual(stateOf({ payoutAddressBase: NEW, payoutWallet: SOLANA }))
  })

  test.each([
    ['a chain by its name', stateOf(), { payoutChain: 'solana' as const }, 'solana'],
    ['a removed address by its field', PAID, { payoutAddressBase: null }, 'payout_address_base'],
    ['a removed chain by its field', stateOf({ payoutChain: 'base' }), { payoutChain: null }, 'payout_chain'],
  ])('applies %s', (_what, state, change, named) => {
    const pending = changePayout(state, change, byKey)
    expect(confirmSetting(pending, named, NOW)).toEqual(stateOf({ ...state.settings, ...change }))
  })

  test('applies nothing for a value that is not pending; one that is in effect stays', () => {
    expect(confirmSetting(two, THIEF, NOW)).toBeUndefined()
    expect(confirmSetting(PAID, NEW, NOW)).toBeUndefined()
    expect(confirmSetting(PAID, OLD, NOW)).toEqual(PAID)
  })
})

describe('cancelChange', () => {
  test('removes a change of the key and of the owner; cancelChangeOfKey only one of the key', () => {
    const ofKey = changePayout(PAID, { payoutAddressBase: THIEF }, byKey)
    const ofOwner = changePayout(PAID, { payoutAddressBase: NEW }, byOwner)
    for (const state of [ofKey, ofOwner]) expect(cancelChange(state, NOW)).toEqual(PAID)
    expect(cancelChangeOfKey(ofKey, NOW)).toEqual(PAID)
    expect(cancelChangeOfKey(ofOwner, NOW)).toEqual(ofOwner)
  })

  test('does not undo a change that took effect', () => {
    const state = changePayout(PAID, { payoutAddressBase: NEW }, byKey)
    const due = later(NOW, PAYOUT_DELAY_MS)
    for (const cancel of [cancelChange, cancelChangeOfKey])
      expect(cancel(state, due)).toEqual(stateOf({ payoutAddressBase: NEW }))
  })
})

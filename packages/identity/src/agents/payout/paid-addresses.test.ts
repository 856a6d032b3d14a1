import { later } from '@market/kernel/clock'
import { describe, expect, test } from 'vitest'
import type { Agent } from '../agent.ts'
import { decideAddresses, type PaidAddress } from './paid-addresses.ts'
import { NO_PAYOUT, PAYOUT_DELAY_MS } from './payout-settings.ts'

const NOW = new Date('2026-11-18T12:00:00Z')
const TOMORROW = later(NOW, PAYOUT_DELAY_MS)
const [OWNER, OLD, NEW] = ['a', 'b', 'c'].map((digit) => `0x${digit.repeat(40)}`) as [string, string, string]
const SERVER = 'SoServerWallet'

const NOBODYS = { payout: NO_PAYOUT, ownerUserId: null, ownerWallet: null, ownerProvenBy: null } as Agent
const OWNED = { ...NOBODYS, ownerWallet: OWNER, ownerProvenBy: 'key' } as Agent
const OF_USER = { ...NOBODYS, ownerUserId: 'user' } as Agent
const paidTo = (agent: Agent, address: string): Agent => ({
  ...agent,
  payout: { settings: { ...NO_PAYOUT.settings, payoutAddressBase: address }, pending: null },
})
const asksFor = (agent: Agent, address: string): Agent => ({
  ...agent,
  payout: {
    ...agent.payout,
    pending: { ...agent.payout.settings, payoutAddressBase: address, since: NOW, by: 'agent' },
  },
})

const server: PaidAddress = { network: 'solana-mainnet', address: SERVER, effectiveAt: NOW }
const base = (address: string, effectiveAt = NOW): PaidAddress => ({
  network: 'base-mainnet',
  address,
  effectiveAt,
})
const decide = (agent: Agent, known: readonly PaidAddress[], confirmed: readonly string[] = []) => {
  const { recorded, dropped } = decideAddresses({ agent, serverWallet: SERVER, known, confirmed, now: NOW })
  return {
    recorded: recorded.map(({ network, address, effectiveAt }) => ({ network, address, effectiveAt })),
    dropped,
  }
}

describe('decideAddresses', () => {
  test('an agent that is seen first is paid at once where its row says, but not where a pending change says', () => {
    expect(decide(asksFor(paidTo(OWNED, OLD), NEW), []).recorded).toEqual([
      server,
      base(OLD),
      base(OWNER),
      base(NEW, TOMORROW),
      { network: 'alt-mainnet', address: OWNER, effectiveAt: NOW },
    ])
  })

  test('the first address of an agent without an owner is paid at once, the next one after 24 hours', () => {
    expect(decide(paidTo(NOBODYS, OLD), [server]).recorded).toEqual([base(OLD)])
    expect(decide(paidTo(NOBODYS, NEW), [server, base(OLD)]).recorded).toEqual([base(NEW, TOMORROW)])
  })

  test('the first address on a network is paid at once: nothing can be due there before', () => {
    expect(decide(paidTo(OF_USER, NEW), [server]).recorded).toEqual([base(NEW)])
  })

  test('an owner that an agent with an address gets is paid after 24 hours on its networks', () => {
    const { recorded } = decide(paidTo(OWNED, OLD), [server, base(OLD)])
    expect(recorded).toEqual([
      base(OWNER, TOMORROW),
      { network: 'alt-mainnet', address: OWNER, effectiveAt: NOW },
    ])
  })

  test('an address that only the row says is in effect waits 24 hours when the agent has an owner', () => {
    expect(decide(paidTo(OF_USER, NEW), [server, base(OLD)]).recorded).toEqual([base(NEW, TOMORROW)])
    const known = [server, base(OWNER), { ...base(OWNER), network: 'alt-mainnet' as const }]
    expect(decide(paidTo(OWNED, NEW), known).recorded).toEqual([base(NEW, TOMORROW)])
  })

  test('a verified signature ends the wait, also of an address that already waits', () => {
    const known = [server, base(OWNER), { ...base(OWNER), network: 'alt-mainnet' as const }]
    expect(decide(paidTo(OWNED, NEW), known, [NEW]).recorded).toEqual([base(NEW)])
    expect(decide(paidTo(OWNED, NEW), [...known, base(NEW, TOMORROW)], [NEW]).recorded).toEqual([base(NEW)])
    expect(decide(paidTo(OWNED, NEW), [...known, base(NEW, TOMORROW)]).recorded).toEqual([])
  })

  test('an address that is no longer named is dropped while it waits, and stays once it is paid', () => {
    const known = [server, base(OLD), base(NEW, TOMORROW)]
    expect(decide(NOBODYS, known).dropped).toEqual([base(NEW, TOMORROW)])
  })
})

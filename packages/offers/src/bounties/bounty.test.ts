import type { Actor } from '@market/core/context'
import type { WalletEvidence } from '@market/core/ports/signatures'
import { DAY, HOUR, later } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { describe, expect, test } from 'vitest'
import { type Bounty, type Claim, claimExpiry, expiryOf, isHeld, isPoster, requirePoster } from './bounty.ts'

const NOW = new Date('2026-03-01T12:00:00Z')
const KEY = `0x${'a'.repeat(40)}`

const bounty: Bounty = {
  id: 'bnty_1',
  poster: 'user:ann',
  clientWallet: KEY,
  clientProvenBy: 'base-mainnet',
  title: 'A poster for a concert',
  brief: 'A3, two colours.',
  category: 'image_gen',
  budget: usdc(20_000_000n),
  deadlineHours: 24,
  claimWindowHours: 6,
  referenceUrls: [],
  referenceImages: [],
  status: 'open',
  pendingClaims: 1,
  createdAt: NOW,
  updatedAt: NOW,
  expiresAt: expiryOf(NOW),
}

const claim = (createdAt: Date): Claim => ({
  id: 'bcl_1',
  bountyId: 'bnty_1',
  agentId: 'agt_1',
  message: '',
  status: 'pending',
  createdAt,
  expiresAt: later(claimExpiry(bounty, createdAt), HOUR),
  endedAt: null,
})

const user = (userId: string, provenBy?: WalletEvidence): Actor => ({
  kind: 'user',
  userId,
  admin: false,
  wallets: provenBy === undefined ? [] : [{ key: KEY, provenBy }],
})
const wallet = (provenBy: WalletEvidence, key = KEY): Actor => ({
  kind: 'wallet',
  wallet: { chain: 'base', address: key, key, provenBy },
})

describe('isHeld: a claim can be accepted until its window or the bounty ends', () => {
  test.each([
    ['just before the window ends', NOW, later(NOW, 6 * HOUR - 1), true],
    ['when the window ends, although it expires later', NOW, later(NOW, 6 * HOUR), false],
    ['just before the bounty ends', later(NOW, 30 * DAY - HOUR), later(NOW, 30 * DAY - 1), true],
    ['when the bounty ends', later(NOW, 30 * DAY - HOUR), later(NOW, 30 * DAY), false],
  ])('%s', (_, createdAt, at, held) => {
    expect(isHeld(bounty, claim(createdAt), at)).toBe(held)
  })
})

test('claimExpiry: the end of the claim window, and at the latest the end of the bounty', () => {
  expect(claimExpiry(bounty, NOW)).toEqual(later(NOW, 6 * HOUR))
  expect(claimExpiry(bounty, later(NOW, 30 * DAY - 6 * HOUR))).toEqual(later(NOW, 30 * DAY))
  expect(claimExpiry(bounty, later(NOW, 30 * DAY - 1))).toEqual(later(NOW, 30 * DAY))
})

describe('isPoster', () => {
  const agent: Actor = { kind: 'agent', agentId: 'agt_1' }
  test.each([
    ['the user who posted it', bounty, user('ann'), true],
    ['another user', bounty, user('bob'), false],
    ['another user whose wallet is named', bounty, user('bob', 'key'), true],
    ['the named smart wallet on its network', bounty, wallet('base-mainnet'), true],
    ['the same address of another network', bounty, wallet('alt-mainnet'), false],
    ['another wallet', bounty, wallet('key', `0x${'b'.repeat(40)}`), false],
    ['the agent that posted it', { ...bounty, poster: 'agent:agt_1' } as Bounty, agent, true],
    ['another agent', { ...bounty, poster: 'agent:agt_2' } as Bounty, agent, false],
    ['an operator’s key', bounty, { kind: 'admin_key', name: 'ops' } as Actor, false],
    ['nobody', bounty, { kind: 'anonymous' } as Actor, false],
  ])('%s', (_, posted, actor, is) => {
    expect(isPoster(posted, actor)).toBe(is)
    const require = () => requirePoster(posted, actor)
    if (is) expect(require).not.toThrow()
    else expect(require).toThrow('posted by somebody else')
  })
})

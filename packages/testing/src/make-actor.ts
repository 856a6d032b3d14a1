import type { Actor } from '@market/core/context'
import type { AgentId } from '@market/kernel/ids'
import { makeEvmWallet } from './makers.ts'

/** A caller who signed with this EVM wallet. */
export const walletActor = (key = makeEvmWallet().key): Extract<Actor, { kind: 'wallet' }> => ({
  kind: 'wallet',
  wallet: { chain: 'base', address: key, key, provenBy: 'key' },
})

export const agentActor = (agentId: AgentId): Actor => ({ kind: 'agent', agentId })

export const userActor = (userId: string): Extract<Actor, { kind: 'user' }> => ({
  kind: 'user',
  userId,
  token: '',
  admin: false,
})

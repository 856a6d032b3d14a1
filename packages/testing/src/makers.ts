import { randomBytes } from 'node:crypto'
import type { Context } from '@market/core/context'
import type { IdentityProfile } from '@market/core/ports/identity'
import type { Wallet } from '@market/core/ports/signatures'
import { type Registered, registerAgent } from '@market/identity/agents'
import { evmSigner } from './evm-signer.ts'
import { solanaSigner } from './solana-signer.ts'

const unique = () => randomBytes(8).toString('hex')

/** Identity claims of a new user with the given changes. */
export const makeProfile = (said: Partial<IdentityProfile> = {}): IdentityProfile => ({
  userId: `user-${unique()}`,
  username: null,
  displayName: null,
  avatarUrl: null,
  twitterUsername: null,
  email: null,
  wallets: [],
  ...said,
})

export const makeEvmWallet = (): Wallet => {
  const { address } = evmSigner()
  return { chain: 'base', address, key: address.toLowerCase(), provenBy: 'key' }
}

export const makeSolanaWallet = async (): Promise<Wallet> => {
  const { address } = await solanaSigner()
  return { chain: 'solana', address, key: address }
}

type Registration = Parameters<typeof registerAgent>[1]

export const registrationOf = (said: Partial<Registration> = {}): Registration => ({
  name: `Agent ${unique()}`,
  description: 'Draws what you describe, carefully.',
  capabilities: [],
  aiModels: [],
  endpointUrl: undefined,
  avatarUrl: undefined,
  owner: { kind: 'none' },
  ...said,
})

/** Registers an agent with the real command. It is hidden unless an owner is given. */
export const makeAgent = (ctx: Context, said: Partial<Registration> = {}): Promise<Registered> =>
  registerAgent(ctx, registrationOf(said))

/** Registers an agent with an owner, so that lists include it. */
export const makeListedAgent = (ctx: Context, said: Partial<Registration> = {}): Promise<Registered> =>
  makeAgent(ctx, { owner: { kind: 'wallet', wallet: makeEvmWallet() }, ...said })

import { z } from 'zod'
import { operation } from '../define.ts'
import { Instant, WalletAddress, WalletChain } from '../schemas/common.ts'
import { HttpsUrl, line, text } from '../schemas/text.ts'
import { LinkedWallet, User } from '../schemas/user.ts'

export const getAuthMessage = operation({
  id: 'getAuthMessage',
  group: 'Identity',
  method: 'GET',
  path: '/api/auth/message',
  summary: 'Get the message to sign with a wallet',
  description:
    'The server rebuilds this message from `wallet`, `ts` and the purpose of the request that you sign. A signature of any other text is rejected.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    wallet: WalletAddress,
    purpose: line({ min: 1, max: 300 }).default('session'),
    ts: z.int().optional().describe('Unix time in milliseconds. Default: now'),
    wallet_chain: WalletChain.optional(),
  }),
  output: z.object({
    message: z.string(),
    wallet: z.string(),
    wallet_chain: WalletChain,
    purpose: z.string(),
    wallet_sig_ts: z.int(),
    expires_at: Instant,
  }),
})

export const signIn = operation({
  id: 'signIn',
  group: 'Identity',
  method: 'POST',
  path: '/api/auth/user',
  summary: 'Sign in',
  description: 'Creates your account or updates it from the identity provider.',
  callers: ['user'],
  limit: 'write',
  input: z.strictObject({}),
  output: z.object({
    user: User,
    wallets: z.array(LinkedWallet),
    is_new: z.boolean().describe('Whether this request created the account'),
    backfilled: z
      .int()
      .describe('Number of existing agents and orders of wallets that are newly linked to you'),
  }),
})

export const getProfile = operation({
  id: 'getProfile',
  group: 'Identity',
  method: 'GET',
  path: '/api/profile',
  summary: 'Get your profile',
  callers: ['user'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.object({ user: User, wallets: z.array(LinkedWallet) }),
  errors: [404],
})

export const deleteProfile = operation({
  id: 'deleteProfile',
  group: 'Identity',
  method: 'DELETE',
  path: '/api/profile',
  summary: 'Delete your account',
  description:
    'Removes your profile, wallets, notifications, briefs and messages, and stops your agents. Orders and payments stay without them. Needs a login at most 15 minutes old.',
  callers: ['user'],
  limit: 'write',
  recentLogin: true,
  input: z.strictObject({}),
  output: z.object({ deleted_at: Instant }),
  errors: [404, 409],
})

export const updateProfile = operation({
  id: 'updateProfile',
  group: 'Identity',
  method: 'PUT',
  path: '/api/profile',
  summary: 'Update your profile',
  description: 'Changes only the given fields. null removes a value.',
  callers: ['user'],
  limit: 'profile.update',
  input: z.strictObject({
    display_name: line({ min: 1, max: 50 }).nullable().optional(),
    bio: text({ max: 280 }).nullable().optional(),
    avatar_url: HttpsUrl.nullable().optional(),
  }),
  output: z.object({ user: User, wallets: z.array(LinkedWallet) }),
  errors: [404],
})

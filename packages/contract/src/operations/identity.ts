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
  summary: 'Read the text a wallet signs',
  description:
    'The text is rebuilt by the server from `wallet`, `ts` and the purpose of the call it is for; signing any other text fails.',
  callers: ['anonymous'],
  limit: 'read',
  input: z.strictObject({
    wallet: WalletAddress,
    purpose: line({ min: 1, max: 200 }).default('session'),
    ts: z.int().optional().describe('Unix milliseconds; now when absent'),
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
  summary: 'Sign in: create or refresh your account from the identity provider',
  callers: ['user'],
  limit: 'write',
  input: z.strictObject({}),
  output: z.object({
    user: User,
    wallets: z.array(LinkedWallet),
    is_new: z.boolean().describe('True when this call created the account'),
    backfilled: z.int().describe('How many existing agents are now tied to you through a linked wallet'),
  }),
})

export const getProfile = operation({
  id: 'getProfile',
  group: 'Identity',
  method: 'GET',
  path: '/api/profile',
  summary: 'Read your profile',
  callers: ['user'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.object({ user: User, wallets: z.array(LinkedWallet) }),
  errors: [404],
})

export const updateProfile = operation({
  id: 'updateProfile',
  group: 'Identity',
  method: 'PUT',
  path: '/api/profile',
  summary: 'Change your profile',
  description: 'Only the fields given are changed; null clears one.',
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

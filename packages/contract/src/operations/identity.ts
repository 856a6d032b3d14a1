import { z } from 'zod'
import { operation } from '../define.ts'
import { Instant, WalletAddress, WalletChain } from '../schemas/common.ts'
import { HttpsUrl, line, text } from '../schemas/text.ts'
import { LinkedWallet, Me, User } from '../schemas/user.ts'

export const getAuthMessage = operation({
  id: 'getAuthMessage',
  group: 'Identity',
  position: 40,
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
  position: 10,
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

export const startSession = operation({
  id: 'startSession',
  group: 'Identity',
  position: 60,
  method: 'POST',
  path: '/api/auth/session',
  summary: 'Start a session of a wallet',
  description:
    'For pages. Exchanges one signature for an HttpOnly cookie, which works for 12 hours from pages of this site. It only reads, event streams included: every change still needs a signature of its own.',
  callers: ['wallet'],
  limit: 'sessions',
  purpose: 'sessions.start',
  input: z.strictObject({}),
  output: z.object({ wallet: z.string(), wallet_chain: WalletChain, expires_at: Instant }),
  status: 201,
  setsCookie: true,
})

export const endSession = operation({
  id: 'endSession',
  group: 'Identity',
  position: 70,
  method: 'DELETE',
  path: '/api/auth/session',
  summary: 'End a session',
  description:
    'Ends the session of the cookie and removes the cookie. With `everywhere` it ends all sessions of the user or wallet, in every browser; a signature or an access token can do that too.',
  callers: ['user', 'wallet'],
  limit: 'sessions',
  input: z.strictObject({ everywhere: z.boolean().default(false).describe('End all of your sessions') }),
  output: z.object({ ended: z.int().describe('How many sessions ended') }),
  setsCookie: true,
})

export const getMe = operation({
  id: 'getMe',
  group: 'Identity',
  position: 15,
  method: 'GET',
  path: '/api/me',
  summary: 'Get who you are',
  description: 'Says for any credential whose it is, and for a session until when it works.',
  callers: ['anonymous', 'agent', 'user', 'wallet', 'admin_key', 'admin'],
  limit: 'read',
  input: z.strictObject({}),
  output: Me,
})

export const getProfile = operation({
  id: 'getProfile',
  group: 'Identity',
  position: 20,
  method: 'GET',
  path: '/api/profile',
  summary: 'Get your profile',
  callers: ['user'],
  limit: 'read',
  input: z.strictObject({}),
  output: z.object({ user: User, wallets: z.array(LinkedWallet) }),
  errors: { 404: ['no_account'] },
})

export const deleteProfile = operation({
  id: 'deleteProfile',
  group: 'Identity',
  position: 50,
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
  errors: {
    404: ['no_account'],
    409: [
      'account_has_money_in_earn',
      'account_has_money_in_wallets',
      'account_has_open_orders',
      'account_has_open_payouts',
      'account_has_open_bounties',
    ],
    503: ['wallets_unavailable'],
  },
})

export const updateProfile = operation({
  id: 'updateProfile',
  group: 'Identity',
  position: 30,
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
  errors: { 404: ['no_account'] },
})

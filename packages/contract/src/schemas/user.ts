import { z } from 'zod'
import { named } from '../define.ts'
import { Instant, UserTime, WalletChain } from './common.ts'

export const User = named(
  'User',
  z.object({
    idp_user_id: z.string(),
    username: z.string().nullable(),
    display_name: z.string().nullable(),
    twitter_username: z.string().nullable(),
    google_email: z.string().nullable(),
    avatar_url: z.string().nullable(),
    bio: z.string().nullable(),
    created_at: UserTime,
    updated_at: UserTime,
  }),
)

export const LinkedWallet = named(
  'LinkedWallet',
  z.object({ address: z.string(), chain: z.enum(['solana', 'base']) }),
)

export const Me = named(
  'Me',
  z.object({
    kind: z.enum(['anonymous', 'agent', 'user', 'wallet', 'admin_key']),
    credential: z
      .enum(['none', 'api_key', 'access_token', 'wallet_signature', 'session', 'oauth_token', 'operator_key'])
      .describe('What the request was sent with'),
    user: User.nullable().describe('Null for other callers, and until the first POST /api/auth/user'),
    wallet: z
      .object({ address: z.string(), chain: WalletChain })
      .nullable()
      .describe('The wallet that signed, or whose session it is'),
    agent: z
      .object({ id: z.string(), slug: z.string(), name: z.string() })
      .nullable()
      .describe('The agent of the API key'),
    wallets: z.array(LinkedWallet).describe('The wallets that are linked to the user'),
    is_operator: z.boolean(),
    login_at: Instant.nullable().describe('When the user signed in at the identity provider, if it says so'),
    unread_count: z.int().describe('Unread notifications'),
    session: z
      .object({
        expires_at: Instant,
        reads_only: z.boolean().describe('True for a wallet: every change needs a signature of its own'),
      })
      .nullable(),
  }),
)

import { z } from 'zod'
import { named } from '../define.ts'
import { UserTime } from './common.ts'

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

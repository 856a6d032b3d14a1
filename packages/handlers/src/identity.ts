import { SIGNATURE_MAX_AGE_MS } from '@market/core/ports/signatures'
import { type Account, getAccount, type LinkedWallet, updateProfile } from '@market/identity/accounts'
import { signIn } from '@market/identity/agents'
import { ApiError } from '@market/kernel/api-error'
import { later } from '@market/kernel/clock'
import { countOrdersOf } from '@market/trade/orders'
import { deleteAccount } from '@market/work/erasure'
import { handler } from './handler.ts'
import { fetchIdentityClaims } from './owner-of.ts'
import { requireUser } from './require-actor.ts'

/** The specification formats times of users as `YYYY-MM-DD HH:MM:SS`, in UTC. */
const userTime = (at: Date): string => at.toISOString().slice(0, 19).replace('T', ' ')

const presentUser = (account: Account) => ({
  idp_user_id: account.userId,
  username: account.username,
  display_name: account.displayName,
  twitter_username: account.twitterUsername,
  google_email: account.email,
  avatar_url: account.avatarUrl,
  bio: account.bio,
  created_at: userTime(account.createdAt),
  updated_at: userTime(account.updatedAt),
})

const presentWallets = (wallets: readonly LinkedWallet[]) =>
  wallets.map(({ address, chain }) => ({ address, chain }))

const presentAccount = (account: Account) => ({
  data: { user: presentUser(account), wallets: presentWallets(account.wallets) },
})

export const identityHandlers = {
  getAuthMessage: handler('getAuthMessage', {
    run: async (ctx, input) => {
      const wallet = ctx.signatures.parseWallet(input.wallet, input.wallet_chain)
      if (wallet === undefined) {
        throw new ApiError('invalid', 'wallet is not a valid address on wallet_chain. Check both fields.', {
          details: [{ path: 'wallet', message: 'must be an address that can sign, on wallet_chain' }],
        })
      }
      const ts = input.ts ?? ctx.clock.wallTime().getTime()
      return {
        wallet,
        ts,
        purpose: input.purpose,
        message: ctx.signatures.messageToSign(wallet, ts, input.purpose),
      }
    },
    present: ({ wallet, ts, purpose, message }) => ({
      data: {
        message,
        wallet: wallet.address,
        wallet_chain: wallet.chain,
        purpose,
        wallet_sig_ts: ts,
        expires_at: later(new Date(ts), SIGNATURE_MAX_AGE_MS).toISOString(),
      },
    }),
  }),

  signIn: handler('signIn', {
    run: async (ctx) => signIn(ctx, await fetchIdentityClaims(ctx), countOrdersOf),
    present: ({ account, isNew, backfilled }) => ({
      data: { ...presentAccount(account).data, is_new: isNew, backfilled },
    }),
  }),

  getProfile: handler('getProfile', {
    run: (ctx) => getAccount(ctx.db, requireUser(ctx).userId),
    present: presentAccount,
  }),

  deleteProfile: handler('deleteProfile', {
    run: (ctx) => deleteAccount(ctx, requireUser(ctx).userId),
    present: ({ deletedAt }) => ({ data: { deleted_at: deletedAt.toISOString() } }),
  }),

  updateProfile: handler('updateProfile', {
    run: (ctx, input) =>
      updateProfile(ctx, requireUser(ctx).userId, {
        displayName: input.display_name,
        bio: input.bio,
        avatarUrl: input.avatar_url,
      }),
    present: presentAccount,
  }),
}

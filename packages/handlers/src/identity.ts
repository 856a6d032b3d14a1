import type { Actor, Credential } from '@market/core/context'
import { countUnread } from '@market/core/notifications'
import { SIGNATURE_MAX_AGE_MS } from '@market/core/ports/signatures'
import {
  type Account,
  findAccount,
  getAccount,
  type LinkedWallet,
  updateProfile,
} from '@market/identity/accounts'
import { signIn } from '@market/identity/agents'
import { endSession, endSessionsOf, revoke, startWalletSession } from '@market/identity/sessions'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { earlier, later, SECOND } from '@market/kernel/clock'
import { countOrdersOf } from '@market/trade/orders'
import { deleteAccount } from '@market/work/erasure'
import { recipientsOf } from './events.ts'
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

const signatureMissing = (): ApiError =>
  new ApiError(
    'unauthenticated',
    'A session starts with a signature of the purpose sessions.start. Send wallet, wallet_sig and wallet_sig_ts.',
    { code: 'signature_missing' },
  )

function subjectOf(actor: Actor) {
  if (actor.kind === 'user') return { userId: actor.userId }
  return { wallets: actor.kind === 'wallet' ? [actor.wallet.key] : [] }
}

function credentialOf(credential: Credential | undefined, isSession: boolean) {
  if (isSession || credential?.kind === 'login') return 'session' as const
  return credential?.kind ?? ('none' as const)
}

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

  startSession: handler('startSession', {
    run: async (ctx) => {
      const { actor, caller } = ctx
      assert(actor.kind === 'wallet', 'this operation is for wallets')
      if (caller.singleUse === undefined) throw signatureMissing()
      const session = await startWalletSession(ctx, caller.singleUse)
      const replaced = caller.otherSession
      if (replaced !== undefined) await endSession(ctx, replaced)
      return { wallet: actor.wallet, ...session }
    },
    present: ({ wallet, token, expiresAt }) => ({
      data: { wallet: wallet.address, wallet_chain: wallet.chain, expires_at: expiresAt.toISOString() },
      cookie: { token, expiresAt },
    }),
  }),

  endSession: handler('endSession', {
    run: async (ctx, { everywhere }) => {
      const { actor, caller } = ctx
      const own = caller.session?.token ?? caller.otherSession
      const ended = own === undefined ? undefined : await endSession(ctx, own)
      const others = everywhere ? await endSessionsOf(ctx, subjectOf(actor)) : 0
      return { ended: others + (ended === undefined ? 0 : 1) }
    },
    present: ({ ended }) => ({ data: { ended }, cookie: {} }),
  }),

  getMe: handler('getMe', {
    run: async (ctx) => {
      const { actor, caller } = ctx
      const account = actor.kind === 'user' ? await findAccount(ctx.db, actor.userId) : undefined
      const hasInbox = account !== undefined || actor.kind === 'wallet'
      const unread = hasInbox ? await countUnread(ctx, await recipientsOf(ctx)) : 0
      const { loginAgeSeconds: age } = caller
      const loginAt = typeof age === 'number' ? earlier(ctx.clock.wallTime(), age * SECOND) : null
      return { account, unread, loginAt }
    },
    present: ({ account, unread, loginAt }, { actor, caller }) => ({
      data: {
        kind: actor.kind,
        credential: credentialOf(actor.credential, caller.session !== undefined),
        user: account === undefined ? null : presentUser(account),
        wallet: actor.kind === 'wallet' ? { address: actor.wallet.address, chain: actor.wallet.chain } : null,
        agent:
          caller.agent === undefined
            ? null
            : { id: caller.agent.id, slug: caller.agent.slug, name: caller.agent.name },
        wallets: presentWallets(account?.wallets ?? []),
        is_operator: actor.kind === 'user' && actor.admin,
        login_at: loginAt?.toISOString() ?? null,
        unread_count: unread,
        session:
          caller.session === undefined
            ? null
            : { expires_at: caller.session.expiresAt.toISOString(), reads_only: actor.kind === 'wallet' },
      },
    }),
  }),

  deleteProfile: handler('deleteProfile', {
    run: (ctx) => deleteAccount(ctx, requireUser(ctx).userId),
    afterCommit: async (ctx, deleted) => {
      // fix: erasure-revokes
      await revoke(ctx, deleted.sessions)
      return deleted
    },
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

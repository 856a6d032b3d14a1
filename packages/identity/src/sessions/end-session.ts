import type { Needs } from '@market/core/context'
import type { LoginProvider } from '@market/core/ports/login'
import { type Resealed, renewedBy, reseal } from '@market/core/reseal'
import { inBatches } from '@market/database/in-batches'
import { transact } from '@market/database/transact'
import { type SealedToken, sessionIdOf, tokenPlace } from './session.ts'
import {
  deleteExpired,
  deleteSession,
  deleteSessions,
  findSealedAfter,
  replaceSealed,
  type SessionRow,
} from './store.ts'

type Ctx = Needs<'db' | 'vault'> & { readonly login?: LoginProvider | undefined }

/** Whose session ended. */
export interface EndedSession {
  readonly userId: string | null
  readonly wallet: string | null
}

const endedOf = ({ idp_user_id: userId, wallet_key: wallet }: SessionRow): EndedSession => ({
  userId,
  wallet,
})

/** Ends the session of a cookie. Undefined when there is none. */
export async function endSession(ctx: Ctx, token: string): Promise<EndedSession | undefined> {
  const id = sessionIdOf(token)
  if (id === undefined) return undefined
  const row = await transact(ctx.db, (tx) => deleteSession(tx, id))
  if (row === undefined) return undefined
  await revoke(ctx, [row])
  return endedOf(row)
}

/** Ends all sessions of a user or of a wallet, and returns how many. */
export async function endSessionsOf(
  ctx: Ctx,
  of: { readonly userId?: string | undefined; readonly wallets?: readonly string[] },
): Promise<number> {
  const rows = await transact(ctx.db, (tx) => deleteSessions(tx, of.userId, of.wallets ?? []))
  await revoke(ctx, rows)
  return rows.length
}

/** For the deletion of an account, in its transaction. Returns the sessions, to revoke after the commit. */
export const deleteSessionsOf = deleteSessions

/** The session has ended already, so a provider that cannot be reached keeps nobody signed in here. */
export async function revoke({ vault, login }: Ctx, rows: readonly SessionRow[]): Promise<void> {
  await Promise.all(
    rows.map(async ({ id, refresh_token_sealed: sealed }) => {
      if (sealed === null || login === undefined) return
      await vault
        .open(sealed, tokenPlace(id, 'refresh_token'))
        .then((token) => login.revoke(token))
        .catch(() => undefined)
    }),
  )
}

export const deleteOldSessions = ({ db, clock }: Needs<'db' | 'clock'>): Promise<number> => {
  const now = clock.wallTime()
  return inBatches((limit) => transact(db, (tx) => deleteExpired(tx, now, limit)))
}

/** Seals the tokens of all sessions with the vault's current key. */
export async function resealSessions(ctx: Needs<'db' | 'vault'>): Promise<Resealed[]> {
  return [await resealColumn(ctx, 'access_token'), await resealColumn(ctx, 'refresh_token')]
}

function resealColumn(ctx: Needs<'db' | 'vault'>, field: SealedToken): Promise<Resealed> {
  const placeOf = (id: string) => tokenPlace(id, field)
  return reseal<string>({
    name: `sessions.${field}_sealed`,
    placeOf,
    renew: renewedBy(ctx, placeOf),
    find: (after, limit) => findSealedAfter(ctx.db, field, after, limit),
    replace: (changes) => replaceSealed(ctx.db, field, changes),
  })
}

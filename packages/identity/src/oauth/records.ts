import { createHash } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { inBatches } from '@market/database/in-batches'
import { type Db, transact } from '@market/database/transact'
import { DAY, earlier, later } from '@market/kernel/clock'
import {
  endUnusableGrants,
  findUnexpiredRecord,
  removeExpiredRecords,
  removeRecord,
  removeUnusedClients,
  saveConsumed,
  upsertRecord,
} from './store.ts'

/** A record of the authorization server, whose fields are its own. */
export type OAuthPayload = Readonly<Record<string, unknown>>

/** Models whose id is the secret that a client sends. */
const SECRET = new Set(['AccessToken', 'AuthorizationCode', 'RefreshToken', 'RegistrationAccessToken'])

const isSecret = (model: string): boolean => SECRET.has(model)

const keyOf = (model: string, id: string): string =>
  isSecret(model) ? createHash('sha256').update(id).digest('base64url') : id

type Ctx = Needs<'db' | 'clock'>

/** Expiry is real time, like that of all credentials. */
export async function saveRecord(
  ctx: Ctx,
  model: string,
  id: string,
  payload: OAuthPayload,
  expiresInSeconds: number | undefined,
): Promise<void> {
  const { jti: _secret, ...withoutId } = payload
  const { grantId } = payload
  const now = ctx.clock.wallTime()
  const record = {
    model,
    id: keyOf(model, id),
    payload: JSON.stringify(isSecret(model) ? withoutId : payload),
    grantId: typeof grantId === 'string' ? grantId : null,
    expiresAt: expiresInSeconds === undefined ? null : later(now, expiresInSeconds * 1_000),
  }
  await transact(ctx.db, (tx) => upsertRecord(tx, record, now))
}

export async function findRecord(ctx: Ctx, model: string, id: string): Promise<OAuthPayload | undefined> {
  const row = await findUnexpiredRecord(ctx.db, model, keyOf(model, id), ctx.clock.wallTime())
  if (row === undefined) return undefined
  const { payload, consumed_at: consumedAt } = row
  return {
    ...(payload as OAuthPayload),
    ...(isSecret(model) && { jti: id }),
    ...(consumedAt !== null && { consumed: Math.floor(consumedAt.getTime() / 1_000) }),
  }
}

/** Marks a code or refresh token as used, once. Returns whether this call did it. */
export const consumeRecord = (ctx: Ctx, model: string, id: string): Promise<boolean> =>
  transact(ctx.db, (tx) => saveConsumed(tx, model, keyOf(model, id), ctx.clock.wallTime()))

export const deleteRecord = (db: Db, model: string, id: string): Promise<void> =>
  transact(db, (tx) => removeRecord(tx, model, keyOf(model, id)))

/** Anybody may register a client, so a client that no user connected is deleted. */
const UNUSED_CLIENT_MS = 30 * DAY

/** Deletes what has expired and clients that nobody uses, and ends grants that no program can use any more. */
export async function deleteOldRecords({ db, clock }: Ctx): Promise<void> {
  const now = clock.wallTime()
  const [unusedSince, before] = [earlier(now, UNUSED_CLIENT_MS), earlier(now, DAY)]
  await inBatches((limit) => transact(db, (tx) => removeExpiredRecords(tx, now, limit)))
  await inBatches((limit) => transact(db, (tx) => removeUnusedClients(tx, unusedSince, limit)))
  await inBatches((limit) => transact(db, (tx) => endUnusableGrants(tx, { now, before }, limit)))
}

import { generateKeyPairSync, type JsonWebKey, randomBytes, randomUUID } from 'node:crypto'
import type { Needs } from '@market/core/context'
import { type Resealed, renewedBy, reseal } from '@market/core/reseal'
import { transact } from '@market/database/transact'
import { DAY, earlier, HOUR } from '@market/kernel/clock'
import { deleteKeysBefore, findKeys, findKeysAfter, insertKeys, lockKeys, replaceKeys } from './store.ts'

/** The keys of one period. */
export interface OAuthKeys {
  readonly id: string
  /** An ES256 private key. */
  readonly signing: JsonWebKey
  /** Signs cookies. */
  readonly cookies: string
}

/** A new key is made when the newest is older. */
const NEW_AFTER_MS = 90 * DAY
/** Other processes know a key by then, so that it can sign. */
const SIGNS_AFTER_MS = 2 * HOUR
/** Longer than any token that the key signed. */
const KEPT_MS = NEW_AFTER_MS + DAY

type Ctx = Needs<'db' | 'clock' | 'vault'>

const placeOf = (id: string) => ({ row: `oauth_keys:${id}`, field: 'keys' })

/** The keys that verify, the one that signs first. Makes a new one when it is time, in one of all processes. */
export async function loadKeys(ctx: Ctx): Promise<readonly [OAuthKeys, ...OAuthKeys[]]> {
  const now = ctx.clock.wallTime()
  const rows = await transact(ctx.db, async (tx) => {
    await lockKeys(tx)
    const [newest] = await findKeys(tx)
    if (newest === undefined || newest.created_at < earlier(now, NEW_AFTER_MS)) {
      const keys = newKeys()
      await insertKeys(tx, keys.id, ctx.vault.seal(JSON.stringify(keys), placeOf(keys.id)), now)
      await deleteKeysBefore(tx, earlier(now, 2 * KEPT_MS))
    }
    return findKeys(tx)
  })
  const known = rows.filter((row) => row.created_at >= earlier(now, KEPT_MS) || row === rows[0])
  const signing = known.find((row) => row.created_at <= earlier(now, SIGNS_AFTER_MS)) ?? known.at(-1)
  const ordered = known.toSorted((a, b) => Number(b === signing) - Number(a === signing))
  const [first, ...others] = await Promise.all(
    ordered.map(
      async ({ id, keys_sealed: sealed }) =>
        JSON.parse(await ctx.vault.open(sealed, placeOf(id))) as OAuthKeys,
    ),
  )
  if (first === undefined) throw new Error('there is no OAuth key')
  return [first, ...others]
}

function newKeys(): OAuthKeys {
  const id = randomUUID()
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signing = { ...privateKey.export({ format: 'jwk' }), kid: id, alg: 'ES256', use: 'sig' }
  return { id, signing, cookies: randomBytes(32).toString('base64url') }
}

/** Seals the keys with the vault's current key. */
export const resealOAuthKeys = (ctx: Needs<'db' | 'vault'>): Promise<Resealed> =>
  reseal<string>({
    name: 'oauth_keys.keys_sealed',
    placeOf,
    renew: renewedBy(ctx, placeOf),
    find: (after, limit) => findKeysAfter(ctx.db, after, limit),
    replace: (changes) =>
      transact(ctx.db, async (tx) => {
        let replaced = 0
        for (const { key, old, fresh } of changes) if (await replaceKeys(tx, key, old, fresh)) replaced++
        return replaced
      }),
  })

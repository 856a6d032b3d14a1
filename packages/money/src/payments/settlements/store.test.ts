import { later, MINUTE } from '@market/kernel/clock'
import { usdc } from '@market/kernel/money'
import { type MarketContext, marketContext } from '@market/testing/market-context'
import { testDatabase } from '@market/testing/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Intent } from '../intents/intent.ts'
import { endIntent, openIntent } from '../intents/store.ts'
import { findUnmined, lockFreeNonce, replaceBytes } from './store.ts'

let ctx: MarketContext
let stop: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  ctx = marketContext({ db: database.db })
  stop = database.stop
})
afterAll(() => stop())

const PAYER = `0x${'ab'.repeat(20)}`
let made = 0
const newHash = () => `0x${String(made++).padStart(64, '0')}`
const newAccount = () => ({
  network: 'base-mainnet' as const,
  gasAccount: `0x${String(made++).padStart(40, '0')}`,
})
type Account = ReturnType<typeof newAccount>

const settlementOf = ({ gasAccount }: Account, nonce: bigint) => ({
  ...{ reference: newHash(), bytes: `bytes of ${made++}`, gasAccount, nonce },
  ...{ signedAtHeight: 1n, lastValidHeight: null },
})

/** Signs a payment as a purchase does, and returns its intent. */
const submit = (account: Account, mined: bigint): Promise<Intent> =>
  ctx.transact(async (tx) => {
    const settlement = settlementOf(account, await lockFreeNonce(tx, account, mined))
    return openIntent(ctx, tx, {
      purpose: { kind: 'purchase', id: `hir_${made++}` },
      ...{ network: account.network, reference: settlement.reference, payers: [PAYER], due: usdc(1n) },
      notBefore: later(ctx.clock.now(), -MINUTE),
      submission: { payment: {}, proof: `${PAYER}:${newHash()}`, settlement },
    })
  })
const nonceOf = ({ submission }: Intent) => submission?.settlement.nonce
const bytesOf = ({ submission }: Intent) => submission?.settlement.bytes ?? ''
const end = (intent: Intent) =>
  ctx.transact((tx) => endIntent(tx, intent, { status: 'confirmed', reference: intent.reference, why: null }))

test('lockFreeNonce: each is assigned once, the lowest of those that are not mined', async () => {
  const account = newAccount()
  const given = await Promise.all(Array.from({ length: 8 }, () => submit(account, 3n)))
  expect(given.map(nonceOf).toSorted((a, b) => Number((a ?? 0n) - (b ?? 0n)))).toEqual([
    ...[3n, 4n, 5n, 6n, 7n, 8n, 9n, 10n],
  ])
  expect(nonceOf(await submit(account, 20n))).toBe(20n)
  expect(nonceOf(await submit(newAccount(), 0n))).toBe(0n)
})

test('lockFreeNonce: a nonce whose settlement is lost is assigned again, also behind later ones', async () => {
  const account = newAccount()
  const [first, second] = [await submit(account, 0n), await submit(account, 0n)]
  expect([first, second].map(nonceOf)).toEqual([0n, 1n])
  await ctx.db.deleteFrom('payment_intents').where('id', '=', first.id).execute()
  expect([await submit(account, 0n), await submit(account, 0n)].map(nonceOf)).toEqual([0n, 2n])
})

test('findUnmined: has what is not mined, oldest first, also of payments that have ended', async () => {
  const account = newAccount()
  const [first, second, third] = [
    await submit(account, 0n),
    await submit(account, 0n),
    await submit(account, 0n),
  ]
  await end(second)
  const found = async (mined: bigint) => (await findUnmined(ctx.db, account, mined, 50)).map(({ id }) => id)
  expect(await found(0n)).toEqual([first.id, second.id, third.id])
  expect(await found(1n)).toEqual([second.id, third.id])
  expect(await found(3n)).toEqual([])
})

const referenceOf = async ({ id }: Intent) =>
  (
    await ctx.db
      .selectFrom('payment_intents')
      .select('reference')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  ).reference

test('replaceBytes: of two at once one is stored; a payment that has ended is named as before, and keeps its nonce', async () => {
  const account = newAccount()
  const [waiting, ended] = [await submit(account, 0n), await submit(account, 0n)]
  await end(ended)
  const replace = (intent: Intent, nonce: bigint) =>
    replaceBytes(ctx.db, { id: intent.id, bytes: bytesOf(intent) }, settlementOf(account, nonce))
  expect(await replace(ended, 2n)).toBe(false)
  for (const [intent, nonce] of [[waiting, 2n] as const, [ended, 1n] as const])
    expect(
      (await Promise.all([replace(intent, nonce), replace(intent, nonce)])).filter(Boolean),
    ).toHaveLength(1)
  expect(await referenceOf(waiting)).not.toBe(waiting.reference)
  expect(await referenceOf(ended)).toBe(ended.reference)
})

import { listSwitches, turnSwitch } from '@market/core/switches'
import { advanceWalletTransaction, advanceWalletTransactions } from '@market/custody/wallets'
import type { Db } from '@market/database/transact'
import { HOUR } from '@market/kernel/clock'
import { marketContext } from '@market/testing/market-context'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backUp } from '../support/backup.ts'
import { until } from '../support/until.ts'
import {
  callsOf,
  lamportsOf,
  makeWalletAgent,
  newAddress,
  SOL,
  signerContext,
  startWalletMarket,
  transactionsOf,
  type WalletAgent,
  type WalletMarket,
} from './wallet-market.ts'

type WalletTransactionId = Parameters<typeof advanceWalletTransaction>[1]

const QUARTER = SOL / 4n

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket()
  // The first round of a worker.
  await advanceWalletTransactions(signerContext(world), { error: () => undefined })
})
afterAll(() => world.market.stop())

const rowOf = (db: Db, id: WalletTransactionId) =>
  db
    .selectFrom('wallet_transactions')
    .select(['status', 'failure'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

const carryOut = (id: WalletTransactionId, db: Db = world.market.db) =>
  until('the operation ended', async () => {
    await advanceWalletTransaction({ ...signerContext(world), db }, id)
    return ['done', 'failed'].includes((await rowOf(db, id)).status)
  })

async function requestSend(agent: WalletAgent, to: string) {
  const reply = callsOf(world, agent).send({ asset: 'SOL', to, amount: 0.25 })
  let id: WalletTransactionId | undefined
  await until('the send was requested', async () => {
    const row = await world.market.db
      .selectFrom('wallet_transactions')
      .select('id')
      .where('agent_id', '=', agent.id)
      .executeTakeFirst()
    id = row?.id as WalletTransactionId | undefined
    return id !== undefined
  })
  return { id: id as WalletTransactionId, reply }
}

async function completeSend({ id, reply }: Awaited<ReturnType<typeof requestSend>>, to: string) {
  await carryOut(id)
  expect((await reply).status).toBe(200)
  expect(await lamportsOf(world, to)).toBe(QUARTER)
}

/** Asks for a send and makes a backup when `isAt` is true. Then the send is carried out. */
async function sendAfterBackup(
  agent: WalletAgent,
  to: string,
  isAt: (id: WalletTransactionId) => Promise<boolean>,
) {
  const requested = await requestSend(agent, to)
  await until('the moment of the backup', () => isAt(requested.id))
  const restore = await backUp(world.market.database.url)
  await completeSend(requested, to)
  return { id: requested.id, restore }
}

const release = (db: Db) =>
  turnSwitch(marketContext({ db }), {
    name: 'freeze_wallets_solana',
    on: false,
    reason: 'compared with the chain',
  })

const expectSentOnce = async (agent: WalletAgent, to: string) => {
  expect(await lamportsOf(world, to)).toBe(QUARTER)
  expect((await transactionsOf(world, agent.wallet)).filter(({ err }) => err === null)).toHaveLength(1)
}

test('restore: wallets are held after a restore to a moment before the first send, which is requested again', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const restore = await backUp(world.market.database.url)
  const requested = await requestSend(agent, to)
  await completeSend(requested, to)
  const { db, stop } = await restore()
  try {
    const { database_epoch: _, ...lost } = await world.market.db
      .selectFrom('wallet_transactions')
      .selectAll()
      .where('id', '=', requested.id)
      .executeTakeFirstOrThrow()
    const again = { ...lost, status: 'requested', reference: null }
    await db.insertInto('wallet_transactions').values(again).execute()
    const restored = { ...signerContext(world), db }
    await advanceWalletTransactions(restored, { error: () => undefined })
    await advanceWalletTransaction(restored, requested.id)
    expect(await rowOf(db, requested.id)).toEqual({ status: 'requested', failure: null })
    await expectSentOnce(agent, to)
  } finally {
    await stop()
  }
})

test('restore: a send that was executed after the backup is held, and not executed again after the release', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const { id, restore } = await sendAfterBackup(agent, to, async () => true)
  const { db, stop } = await restore()
  try {
    expect(await rowOf(db, id)).toEqual({ status: 'requested', failure: null })
    await advanceWalletTransaction({ ...signerContext(world), db }, id)
    // After an hour an unsigned operation of the same epoch is given up.
    const clock = {
      now: () => new Date(world.market.now() + 2 * HOUR),
      wallTime: () => new Date(world.market.wallTime()),
    }
    await advanceWalletTransaction({ ...signerContext(world), db, clock }, id)
    expect(await rowOf(db, id)).toEqual({ status: 'requested', failure: null })
    const shown = (await listSwitches({ db })).find(({ name }) => name === 'freeze_wallets_solana')
    expect(shown).toMatchObject({ onSince: expect.any(Date), changedBy: 'system' })
    expect(shown?.reason).toMatch(/^The database was restarted, restored or promoted\./)

    await release(db)
    await carryOut(id, db)
    expect(await rowOf(db, id)).toEqual({ status: 'failed', failure: 'outcome_unknown' })
    await expectSentOnce(agent, to)
  } finally {
    await stop()
  }
})

test('restore: a send whose first signature expired, and whose second was lost, is not signed again', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const ctx = signerContext(world)
  const lost = { ...ctx.walletSigner, send: async () => undefined }
  const { id, restore } = await sendAfterBackup(agent, to, async (requested) => {
    await advanceWalletTransaction({ ...ctx, walletSigner: lost }, requested)
    return (await rowOf(world.market.db, requested)).status === 'signed'
  })
  const { db, stop } = await restore()
  try {
    const expired = { ...ctx.walletSigner, observe: async () => ({ kind: 'expired' }) as const }
    await advanceWalletTransaction({ ...ctx, db, walletSigner: expired }, id)
    expect((await rowOf(db, id)).status).toBe('signed')
    await release(db)
    await advanceWalletTransaction({ ...ctx, db, walletSigner: expired }, id)
    expect(await rowOf(db, id)).toEqual({ status: 'failed', failure: 'outcome_unknown' })
    await expectSentOnce(agent, to)
  } finally {
    await stop()
  }
})

test('restore: a signature that the backup has is followed to its end while wallets are held', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const { id, restore } = await sendAfterBackup(agent, to, async (requested) => {
    await advanceWalletTransaction(signerContext(world), requested)
    return (await rowOf(world.market.db, requested)).status !== 'requested'
  })
  const { db, stop } = await restore()
  try {
    await carryOut(id, db)
    expect(await rowOf(db, id)).toEqual({ status: 'done', failure: null })
    await expectSentOnce(agent, to)
  } finally {
    await stop()
  }
})

test('new epoch: a request is 503, an operation that waits says why, and both go on after the release', async () => {
  const agent = await makeWalletAgent(world)
  const calls = callsOf(world, agent)
  const to = await newAddress()
  const replies = [
    calls.withdraw({ asset: 'SOL', amount: 0.25 }),
    calls.send({ asset: 'SOL', to, amount: 0.25 }),
  ]
  await until('the send was requested', async () => {
    const { body } = await calls.operations()
    return body.data.length === 1
  })
  // As a restart of the server does: the recorded epoch is another one than the current.
  await world.market.db
    .updateTable('switches')
    .set({ database_epoch: 'an earlier one' })
    .where('name', '=', 'freeze_wallets_solana')
    .execute()
  const waiting = { status: 'requested', hold_code: 'freeze_wallets_solana' }
  expect((await calls.operations()).body.data).toMatchObject([waiting])
  expect(await calls.said()).toMatchObject({ status: 503, body: { code: 'freeze_wallets_solana' } })
  expect((await Promise.all(replies)).map(({ status }) => status)).toEqual([409, 202])
  expect((await replies[1])?.body.data).toMatchObject(waiting)

  await release(world.market.db)
  const [{ operation_id }] = (await calls.operations()).body.data
  await carryOut(operation_id)
  expect(await lamportsOf(world, to)).toBe(QUARTER)
  expect((await calls.operations()).body.data).toMatchObject([{ status: 'done', hold_code: null }])
})

import { randomUUID } from 'node:crypto'
import type { WalletSigner } from '@market/core/ports/agent-wallets'
import { advanceWalletTransaction } from '@market/custody/wallets'
import type { Db } from '@market/database/transact'
import { HOUR } from '@market/kernel/clock'
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
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
/** What an earlier epoch may have signed must expire first. */
const LONG = { withinMs: 120_000, everyMs: 200 }

let world: WalletMarket
beforeAll(async () => {
  world = await startWalletMarket()
})
afterAll(() => world.market.stop())

const rowOf = (db: Db, id: WalletTransactionId) =>
  db
    .selectFrom('wallet_transactions')
    .select(['status', 'failure', 'reference'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()

const carryOut = (id: WalletTransactionId, ctx = signerContext(world)) =>
  until(
    'the operation ended',
    async () => {
      await advanceWalletTransaction(ctx, id)
      return ['done', 'failed'].includes((await rowOf(ctx.db, id)).status)
    },
    LONG,
  )

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

const expectSentOnce = async (agent: WalletAgent, to: string) => {
  expect(await lamportsOf(world, to)).toBe(QUARTER)
  expect((await transactionsOf(world, agent.wallet)).filter(({ err }) => err === null)).toHaveLength(1)
}

/** A send of which a backup knows what `before` did, and which is carried out after the backup. */
async function sendAfterBackup(
  before: (id: WalletTransactionId) => Promise<unknown>,
  after: (id: WalletTransactionId) => Promise<unknown> = async () => {},
) {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const { id, reply } = await requestSend(agent, to)
  await before(id)
  const restore = await backUp(world.market.database.url)
  await after(id)
  await carryOut(id)
  expect([200, 202]).toContain((await reply).status)
  const { reference } = await rowOf(world.market.db, id)
  const { db, stop } = await restore()
  return { agent, to, id, reference, db, ctx: { ...signerContext(world), db }, stop }
}

/** Advances in the restored database, where the send is recorded and not repeated. */
async function expectRecorded({
  agent,
  to,
  id,
  reference,
  ctx,
  stop,
}: Awaited<ReturnType<typeof sendAfterBackup>>) {
  try {
    await carryOut(id, ctx)
    expect(await rowOf(ctx.db, id)).toEqual({ status: 'done', failure: null, reference })
    await expectSentOnce(agent, to)
  } finally {
    await stop()
  }
}

test.concurrent('restore: a send that was executed after the backup is recorded, and not executed again', async () => {
  await expectRecorded(await sendAfterBackup(async () => {}))
})

test.concurrent('restore: a send that was executed is recorded although its operation is older than an hour', async () => {
  const sent = await sendAfterBackup(async () => {})
  const clock = {
    now: () => new Date(world.market.now() + 2 * HOUR),
    wallTime: () => new Date(world.market.wallTime()),
  }
  await expectRecorded({ ...sent, ctx: { ...sent.ctx, clock } })
})

test.concurrent('restore: a send whose first transaction expired, and whose second was lost, is recorded', async () => {
  const ctx = signerContext(world)
  const unsent = new Set<string>()
  const walletSigner: WalletSigner = {
    ...ctx.walletSigner,
    async send(one) {
      if (unsent.size === 0) unsent.add(one.reference)
      if (!unsent.has(one.reference)) await ctx.walletSigner.send(one)
    },
  }
  const first = await sendAfterBackup(
    (id) => advanceWalletTransaction({ ...ctx, walletSigner }, id),
    (id) => carryOut(id, { ...ctx, walletSigner }),
  )
  await expectRecorded(first)
})

test.concurrent('restore: a transaction that the backup has is followed to its end', async () => {
  await expectRecorded(await sendAfterBackup((id) => advanceWalletTransaction(signerContext(world), id)))
})

test.concurrent('restore: a send that was never signed is sent once what may be lost has expired', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const { id, reply } = await requestSend(agent, to)
  const { db, stop } = await (await backUp(world.market.database.url))()
  try {
    const ctx = { ...signerContext(world), db }
    await advanceWalletTransaction(ctx, id)
    expect(await rowOf(db, id)).toMatchObject({ status: 'requested' })
    await carryOut(id, ctx)
    expect(await rowOf(db, id)).toMatchObject({ status: 'done' })
    await expectSentOnce(agent, to)
    expect((await reply).status).toBe(202)
  } finally {
    await stop()
  }
})

test.concurrent('restore: a transaction of a stranger that names the operation is not taken for it', async () => {
  const agent = await makeWalletAgent(world)
  const to = await newAddress()
  const { id } = await requestSend(agent, to)
  const stranger = await createKeyPairSignerFromPrivateKeyBytes(crypto.getRandomValues(new Uint8Array(32)))
  await world.solana.chain.fundSol(stranger.address, SOL)
  await world.solana.run(stranger, [
    getTransferSolInstruction({ source: stranger, destination: agent.wallet as never, amount: 1n }),
    getAddMemoInstruction({ memo: `${id}#1` }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 }),
  ])
  const { db, stop } = await (await backUp(world.market.database.url))()
  try {
    await carryOut(id, { ...signerContext(world), db })
    expect(await lamportsOf(world, to)).toBe(QUARTER)
  } finally {
    await stop()
  }
})

test.concurrent('restore: an operation that the database lost gets its id again when it is requested with its key', async () => {
  const calls = callsOf(world, await makeWalletAgent(world))
  const { db } = world.market
  const key = randomUUID()
  const request = async () => (await calls.said(key)).body.data.operation_id as string
  const first = await request()
  // As a restore to a moment before the request leaves the tables.
  await db.deleteFrom('wallet_transactions').where('id', '=', first).execute()
  await db.deleteFrom('requests').where('key', '=', key).execute()
  expect(await request()).toBe(first)
})

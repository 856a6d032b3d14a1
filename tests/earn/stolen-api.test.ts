import { type Tx, transact } from '@market/database/transact'
import type { Deposit } from '@market/earn/deposits'
import { usdc } from '@market/kernel/money'
import { post, surplus } from '@market/money/ledger'
import { escrowAccount, type Purpose } from '@market/money/payments'
import { findPayoutOf, requestPayout } from '@market/money/payouts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, positionOf, statusOf, withdrawalOf } from './depositors.ts'
import {
  type Depositor,
  deposit,
  type EarnWorld,
  NETWORK,
  newDepositor,
  startEarnWorld,
  step,
  stepUntil,
  USD,
} from './earn-world.ts'

let world: EarnWorld
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  await enter(world, 100n * USD)
})
afterAll(() => world.stop())

/** What somebody can do who took over an api process. */
const asApi = <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
  transact(world.database.db, async (tx) => {
    await sql`set local role market_api`.execute(tx)
    return work(tx)
  })

const holderOf = ({ address }: Depositor) => `wallet:${address.toLowerCase()}`
const purposeOf = (id: string): Purpose => ({ kind: 'earn_deposit', id })
const balanceOf = ({ address }: Depositor) => world.network.balanceOf(address)
const rounds = async (count: number) => {
  for (let round = 0; round < count; round++) {
    await world.network.mine(9)
    // What nothing backs is reported by an error of its round at most.
    await step(world).catch(() => undefined)
  }
}
const newestOf = (of: Depositor) =>
  world.database.db
    .selectFrom('earn_deposits')
    .selectAll()
    .where('holder', '=', holderOf(of))
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow()

const setPurpose = (tx: Tx, reference: string, purpose: string) =>
  sql`update transfers set purpose = ${purpose} where reference = ${reference}`.execute(tx)

let count = 0
const newId = (prefix: 'edp' | 'ewd') => {
  count += 1
  return `${prefix}_${Date.now()}_${String(count).padStart(17, '0')}` as const
}

/** Money of somebody else that the api can move: in escrow, because its transfer is not final. */
async function foreignMoney(micros: bigint): Promise<Deposit> {
  const bob = await newDepositor(world)
  return deposit(world, bob, micros)
}

test('another transfer put in the place of a victim’s does not make its payer a destination', async () => {
  const victim = await enter(world, 100n * USD)
  const thief = await enter(world, 5n * USD)
  const [theirs, own] = [await newestOf(victim), await newestOf(thief)]
  const before = await balanceOf(thief)
  await asApi(async (tx) => {
    await setPurpose(tx, theirs.reference, '')
    await setPurpose(tx, own.reference, `earn_deposit:${theirs.id}`)
    await tx
      .insertInto('earn_withdrawals')
      .values({
        id: newId('ewd'),
        pool_key: world.market.key,
        holder: holderOf(victim),
        destination: thief.address.toLowerCase(),
        status: 'requested',
        created_at: world.clock.now(),
        updated_at: world.clock.now(),
      })
      .execute()
  })
  await rounds(6)
  expect(await withdrawalOf(world, victim)).toMatchObject({
    status: 'rejected',
    failure: 'wrong_destination',
  })
  expect((await positionOf(world, victim))?.shares).toBeGreaterThan(0n)
  expect(await balanceOf(thief)).toBe(before)
})

test('a transfer that became shares is not paid out again as a surplus', async () => {
  const thief = await enter(world, 50n * USD)
  const own = await newestOf(thief)
  const before = await balanceOf(thief)
  const foreign = await foreignMoney(60n * USD)
  const amount = usdc(50n * USD)
  await asApi(async (tx) => {
    const from = surplus(NETWORK, own.reference)
    await post(world.ctx, tx, {
      key: `stolen:${own.id}`,
      reason: 'stolen',
      subject: own.id,
      network: NETWORK,
      moves: [{ from: escrowAccount(NETWORK, purposeOf(foreign.id)), to: from, amount }],
    })
    await sql`update transfers set due_micros = 0 where reference = ${own.reference}`.execute(tx)
    await requestPayout(world.ctx, tx, {
      network: NETWORK,
      kind: 'surplus',
      subject: own.id,
      payee: thief.address.toLowerCase(),
      amount,
      from,
      purpose: purposeOf(own.id),
    })
  })
  await rounds(6)
  expect(await findPayoutOf(world.database.db, 'surplus', own.id)).toMatchObject({
    state: 'held',
    holdCode: 'order_mismatch',
  })
  expect(await balanceOf(thief)).toBe(before)
})

test('a transfer that became shares is no second deposit, whatever the ledger holds for it', async () => {
  const thief = await enter(world, 40n * USD)
  const own = await newestOf(thief)
  const foreign = await foreignMoney(60n * USD)
  const id = newId('edp')
  await asApi(async (tx) => {
    await setPurpose(tx, own.reference, `earn_deposit:${id}`)
    await forgeDeposit(tx, id, thief, 40n * USD)
    await post(world.ctx, tx, {
      key: `stolen:${id}`,
      reason: 'stolen',
      subject: id,
      network: NETWORK,
      moves: [
        {
          from: escrowAccount(NETWORK, purposeOf(foreign.id)),
          to: escrowAccount(NETWORK, purposeOf(id)),
          amount: usdc(40n * USD),
        },
      ],
    })
  })
  await rounds(6)
  expect((await positionOf(world, thief))?.principal).toBe(40n * USD)
  expect(await statusOf(world, thief)).toBe('received')
})

const forgeDeposit = (tx: Tx, id: string, by: Depositor, micros: bigint, at = world.clock.now()) =>
  tx
    .insertInto('earn_deposits')
    .values({
      id,
      pool_key: world.market.key,
      holder: holderOf(by),
      network: NETWORK,
      reference: `0x${String(count).padStart(64, '0')}`,
      amount_micros: micros,
      status: 'received',
      created_at: at,
      updated_at: at,
    })
    .execute()

test('more deposits without a transfer than fit into a batch do not delay one with a transfer', async () => {
  const nobody = await newDepositor(world)
  await asApi(async (tx) => {
    for (let n = 0; n < 101; n++) await forgeDeposit(tx, newId('edp'), nobody, USD, new Date(0))
  })
  const ann = await newDepositor(world)
  await deposit(world, ann, 10n * USD)
  await stepUntil(world, 'ann has shares', async () => (await statusOf(world, ann)) === 'active')
})

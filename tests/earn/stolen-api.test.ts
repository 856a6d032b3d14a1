import { type Tx, transact } from '@market/database/transact'
import { usdc } from '@market/kernel/money'
import { type Account, escrow, post, surplus } from '@market/money/ledger'
import { escrowAccount, type Purpose } from '@market/money/payments'
import { findPayoutOf, requestPayout } from '@market/money/payouts'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enter, isPaid, positionOf, statusOf, withdrawalOf } from './depositors.ts'
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
  withdraw,
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
    .innerJoin('payment_intents', 'purpose_id', 'earn_deposits.id')
    .selectAll('earn_deposits')
    .select('reference')
    .where('holder', '=', holderOf(of))
    .orderBy('earn_deposits.created_at', 'desc')
    .executeTakeFirstOrThrow()

const setPurpose = (tx: Tx, reference: string, purpose: string) =>
  sql`update transfers set purpose = ${purpose} where reference = ${reference}`.execute(tx)

let count = 0
const newId = (prefix: 'edp' | 'ewd') => {
  count += 1
  return `${prefix}_${Date.now()}_${String(count).padStart(17, '0')}` as const
}

/** Money of somebody else that the api can move: in escrow for an order. */
async function foreignMoney(micros: bigint): Promise<Account> {
  const { id } = await deposit(world, await newDepositor(world), micros)
  const order = escrow(NETWORK, `order:${id}`)
  await transact(world.database.db, (tx) =>
    move(tx, id, escrowAccount(NETWORK, purposeOf(id)), order, micros),
  )
  return order
}

const move = (tx: Tx, id: string, from: Account, to: Account, micros: bigint) =>
  post(world.ctx, tx, {
    key: `moved:${id}`,
    reason: 'moved',
    subject: id,
    network: NETWORK,
    moves: [{ from, to, amount: usdc(micros) }],
  })

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

test('a deposit that a thief pays for a victim does not make the thief’s wallet a destination', async () => {
  const victim = await enter(world, 100n * USD)
  const thief = await newDepositor(world)
  const { id, reference } = await deposit(world, thief, 5n * USD)
  const forged = newId('edp')
  await asApi(async (tx) => {
    await setPurpose(tx, reference, `earn_deposit:${forged}`)
    await forgeDeposit(tx, forged, victim, 5n * USD)
  })
  const [from, to] = [id, forged].map((one) => escrowAccount(NETWORK, purposeOf(one))) as [Account, Account]
  await transact(world.database.db, (tx) => move(tx, forged, from, to, 5n * USD))
  const isActive = async () => {
    const row = world.database.db
      .selectFrom('earn_deposits')
      .select(['status', 'payer'])
      .where('id', '=', forged)
    return (await row.executeTakeFirst())?.status === 'active'
  }
  await stepUntil(world, 'the victim has the shares of the thief', isActive)
  const before = await balanceOf(thief)
  await asApi((tx) =>
    tx
      .insertInto('earn_withdrawals')
      .values({
        ...{ id: newId('ewd'), pool_key: world.market.key, holder: holderOf(victim), status: 'requested' },
        ...{
          destination: thief.address.toLowerCase(),
          created_at: world.clock.now(),
          updated_at: world.clock.now(),
        },
      })
      .execute(),
  )
  await rounds(6)
  expect(await withdrawalOf(world, victim)).toMatchObject({
    status: 'rejected',
    failure: 'wrong_destination',
  })
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
    await move(tx, own.reference, foreign, from, amount)
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
    await move(tx, id, foreign, escrowAccount(NETWORK, purposeOf(id)), 40n * USD)
  })
  await rounds(6)
  expect((await positionOf(world, thief))?.principal).toBe(40n * USD)
  expect(await statusOf(world, thief)).toBe('received')
})

const forgeDeposit = (tx: Tx, id: string, by: Depositor | string, micros: bigint, at = world.clock.now()) =>
  tx
    .insertInto('earn_deposits')
    .values({
      id,
      pool_key: world.market.key,
      holder: typeof by === 'string' ? by : holderOf(by),
      network: NETWORK,
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

test('the api takes nothing out of the escrow of a deposit', async () => {
  const ann = await newDepositor(world)
  const { id } = await deposit(world, ann, 10n * USD)
  const from = escrowAccount(NETWORK, purposeOf(id))
  await expect(asApi((tx) => move(tx, id, from, escrow(NETWORK, 'order:own'), USD))).rejects.toMatchObject({
    constraint: 'earn_money_of_api',
  })
  await stepUntil(world, 'ann has shares', async () => (await statusOf(world, ann)) === 'active')
})

test('a deposit of an agent that does not exist does not stop those that go with it', async () => {
  const [thief, ann] = [await newDepositor(world), await newDepositor(world)]
  const { id, reference } = await deposit(world, thief, 10n * USD)
  const forged = newId('edp')
  await asApi(async (tx) => {
    await setPurpose(tx, reference, `earn_deposit:${forged}`)
    await forgeDeposit(tx, forged, 'agent:agt_0_00000000000000000', 10n * USD)
  })
  const [from, to] = [id, forged].map((one) => escrowAccount(NETWORK, purposeOf(one))) as [Account, Account]
  await transact(world.database.db, (tx) => move(tx, forged, from, to, 10n * USD))
  await deposit(world, ann, 10n * USD)
  await stepUntil(world, 'ann has shares', async () => (await statusOf(world, ann)) === 'active')
})

test('withdrawals from a pool without a venue do not delay others, and what comes back pays for nothing', async () => {
  const ann = await enter(world, 20n * USD)
  const at = new Date(0)
  await sql`insert into earn_pools (key, network, kind, vault, wallet, created_at)
    select 'dead:usdc', network, kind, ${`0x${'d'.repeat(40)}`}, wallet, created_at from earn_pools`.execute(
    world.database.db,
  )
  await asApi(async (tx) => {
    for (let n = 0; n < 101; n++)
      await tx
        .insertInto('earn_withdrawals')
        .values({
          ...{ id: newId('ewd'), pool_key: 'dead:usdc', holder: holderOf(ann), status: 'requested' },
          ...{ destination: ann.address.toLowerCase(), created_at: at, updated_at: at },
        })
        .execute()
  })
  const { id } = await withdraw(world, ann, null)
  const isBurned = async () => (await withdrawalOf(world, ann))?.id === id
  await stepUntil(world, 'the shares are burned', isBurned)
  const recall = () =>
    world.database.db
      .selectFrom('venue_transfers')
      .selectAll()
      .where('kind', '=', 'recall')
      .orderBy('created_at', 'desc')
      .executeTakeFirst()
  const hasPaid = async () => ['withdrawn', 'done'].includes((await recall())?.state ?? '')
  await stepUntil(world, 'the venue has paid', hasPaid)
  const reference = (await recall())?.reference ?? ''
  await expect(asApi((tx) => setPurpose(tx, reference, 'order:own'))).rejects.toMatchObject({
    constraint: 'transfers_of_venue',
  })
  await stepUntil(world, 'ann is paid', () => isPaid(world, ann))
})

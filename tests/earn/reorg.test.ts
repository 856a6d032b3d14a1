import { afterAll, beforeAll, expect, test } from 'vitest'
import { CONFIRMATIONS } from '../chains/evm-world.ts'
import { expectWhole } from './check-whole.ts'
import { enter, failureOf, positionOf, statusOf } from './depositors.ts'
import {
  deposit,
  type EarnWorld,
  newDepositor,
  readMoney,
  startEarnWorld,
  step,
  stepUntil,
  USD,
} from './earn-world.ts'

const HOUR_MS = 3_600_000

let world: EarnWorld
beforeAll(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  await enter(world, 100n * USD)
})
afterAll(() => world.stop())

const countVenueTransfers = async (): Promise<number> =>
  (await world.database.db.selectFrom('venue_transfers').select('id').execute()).length

test('a deposit whose transaction the chain moved to another block becomes shares once', async () => {
  const depositor = await newDepositor(world)
  const { reference } = await deposit(world, depositor, 20n * USD)
  const bytes = await world.network.rpc('eth_getRawTransactionByHash', [reference])
  await world.network.reorg(CONFIRMATIONS + 1)
  await world.network.mine(9)
  await stepUntil(
    world,
    'the reversal is recorded',
    async () => (await statusOf(world, depositor)) === 'waiting',
  )
  await world.network.rpc('eth_sendRawTransaction', [bytes])
  await stepUntil(world, 'it has shares', async () => (await statusOf(world, depositor)) === 'active')
  expect(await positionOf(world, depositor)).toMatchObject({ principal: 20n * USD })
  await expectWhole(world)
})

test('a reorganization under the deposit into the vault sends the same transaction again, and mints once', async () => {
  const depositor = await newDepositor(world)
  await deposit(world, depositor, 30n * USD)
  const sharesAtFirst = await world.vault.sharesOf(world.wallet)
  await stepUntil(
    world,
    'the deposit is in a block',
    async () => (await world.vault.sharesOf(world.wallet)) > sharesAtFirst,
  )
  await world.network.reorg(1)
  expect(await world.vault.sharesOf(world.wallet)).toBe(sharesAtFirst)
  expect(await positionOf(world, depositor)).toBeUndefined()
  await stepUntil(world, 'it has shares', async () => (await statusOf(world, depositor)) === 'active')
  expect(await positionOf(world, depositor)).toMatchObject({ principal: 30n * USD })
  await expectWhole(world)
})

test('a deposit whose transfer the chain reversed waits, and fails when it never comes back', async () => {
  const depositor = await newDepositor(world)
  await deposit(world, depositor, 20n * USD)
  const moves = await countVenueTransfers()
  await world.network.reorg(CONFIRMATIONS + 1)
  await world.network.mine(9)
  await stepUntil(
    world,
    'the reversal is recorded',
    async () => (await statusOf(world, depositor)) === 'waiting',
  )
  expect(await positionOf(world, depositor)).toBeUndefined()
  await expectWhole(world)
  world.clock.advance(HOUR_MS)
  await readMoney(world)
  expect(await statusOf(world, depositor)).toBe('failed')
  expect(await failureOf(world, depositor)).toContain('was not found')
  expect(await countVenueTransfers()).toBe(moves)
})

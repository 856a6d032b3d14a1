import { afterEach, beforeEach, expect, test } from 'vitest'
import { expectWhole } from './check-whole.ts'
import { enter, failureOf, isRefunded, statusOf } from './depositors.ts'
import {
  type Depositor,
  deposit,
  type EarnWorld,
  newDepositor,
  startEarnWorld,
  step,
  stepUntil,
  USD,
} from './earn-world.ts'

const HOUR_MS = 3_600_000

let world: EarnWorld
let bob: Depositor
beforeEach(async () => {
  world = await startEarnWorld('lending')
  await step(world)
  await enter(world, 100n * USD)
  bob = await newDepositor(world)
  await deposit(world, bob, 50n * USD)
})
afterEach(() => world.stop())

const stateOfVenueTransfer = async (): Promise<string | undefined> => {
  const moves = world.database.db.selectFrom('venue_transfers').select('state')
  return (await moves.orderBy('created_at', 'desc').limit(1).executeTakeFirst())?.state
}
const isMoveIn = (state: string) =>
  stepUntil(world, `the move is ${state}`, async () => (await stateOfVenueTransfer()) === state)

const expectRefunded = async (): Promise<void> => {
  await stepUntil(world, 'bob is refunded', () => isRefunded(world, bob))
  expect(await world.network.balanceOf(bob.address)).toBe(10_000n * USD)
  expect(await world.network.balanceOf(world.wallet)).toBe(0n)
  await expectWhole(world)
}

test('a deposit that the vault rejects on the chain comes back from the wallet and is refunded', async () => {
  await isMoveIn('approving')
  await world.vault.pause(true)
  await isMoveIn('returning')
  await expectRefunded()
  expect(await failureOf(world, bob)).toContain('rejected')
})

test('a vault that takes nothing when the money is in the wallet gets none, and it is refunded', async () => {
  await isMoveIn('funding')
  await world.vault.pause(true)
  await expectRefunded()
})

test('money that cannot leave the wallet is held, and refunded when it can an hour later', async () => {
  await isMoveIn('approving')
  await world.vault.pause(true)
  await world.network.deny(world.wallet, true)
  await stepUntil(world, 'the deposit is held', async () => (await statusOf(world, bob)) === 'held')
  expect(await failureOf(world, bob)).toContain('could not be returned')
  await world.network.deny(world.wallet, false)
  await step(world)
  expect(await stateOfVenueTransfer()).toBe('held')
  world.clock.advance(HOUR_MS)
  await expectRefunded()
})

test('a payout to a wallet that cannot be paid ends the move, and the deposit is refunded', async () => {
  await isMoveIn('funding')
  await world.network.deny(world.wallet, true)
  await expectRefunded()
  expect(await stateOfVenueTransfer()).toBe('failed')
})

test('a failed payout to the wallet ends the move after what a lost database signed has expired', async () => {
  await isMoveIn('funding')
  const { db } = world.database
  await world.network.deny(world.wallet, true)
  const failed = { state: 'failed', hold_code: null, hold_detail: null, reason: 'The payee is denied' }
  await db
    .updateTable('payouts')
    .set(failed)
    .where('kind', '=', 'move_to_venue')
    .where('state', 'in', ['queued', 'held'])
    .execute()
  const setAlive = (at: Date | null) =>
    db
      .updateTable('payout_guards')
      .set({ alive_until: at, alive_height: at && 1_000_000n, claims_known_until: at })
      .execute()
  await setAlive(new Date(Date.now() + HOUR_MS))
  for (let n = 0; n < 3; n++) await step(world)
  expect(await stateOfVenueTransfer()).toBe('funding')
  await setAlive(null)
  await stepUntil(world, 'the move has failed', async () => (await stateOfVenueTransfer()) === 'failed')
  await expectRefunded()
})

import { expect, test } from 'vitest'
import {
  HOLDERS,
  newWorld,
  problemOf,
  randomFrom,
  randomTerms,
  settleAll,
  step,
  type World,
} from './histories.ts'

const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
/** The gauntlet plays 100,000. */
const HISTORIES = Number(process.env['EARN_HISTORIES'] ?? 300)
const STEPS = 30

/** Plays a history until something is wrong, and says what with the steps before it. */
function play(seed: number): string | undefined {
  const random = randomFrom(seed)
  const world = newWorld(randomTerms(random))
  const done: string[] = []
  const problem = (): string | undefined => {
    const why = problemOf(world)
    return why && `seed ${seed}: ${why} after ${done.join(' ')}`
  }
  for (let n = 0; n < STEPS; n++) {
    done.push(step(world, random, n === 0 ? 'first' : undefined))
    const why = problem()
    if (why !== undefined) return why
  }
  settleAll(world)
  done.push('settleAll')
  return problem() ?? leftIn(world, seed)
}

/** After everybody has left, only what the vault pays nothing for, or reverts at, is open. */
function leftIn({ pool }: World, seed: number): string | undefined {
  const open = pool.withdrawals.filter((one) => pool.valueOf(one.open) > 1n)
  const held = HOLDERS.filter((who) => (pool.positions.get(who) ?? 0n) > 0n)
  return open.length + held.length === 0 ? undefined : `seed ${seed}: ${open.length} withdrawals are left`
}

test(`rules: whenever somebody asks, each gets what they would get alone with the vault (${HISTORIES} histories from seed ${SEED})`, () => {
  const problems: string[] = []
  for (let n = 0; n < HISTORIES && problems.length < 5; n++)
    problems.push(...[play(SEED + n)].flatMap((why) => why ?? []))
  expect(problems).toEqual([])
})

test('rules: a round trip never gains', () => {
  const problems: string[] = []
  for (let n = 0; n < HISTORIES; n++) {
    const random = randomFrom(SEED + n)
    const world = newWorld(randomTerms(random))
    world.pool.deposit('ann', random.between(1e8, 1e9))
    world.pool.work()
    world.vault.gift(random.between(1, 1e9))
    const amount = random.between(1e6, 1e10)
    world.pool.deposit('bob', amount)
    world.pool.work()
    world.pool.ask('bob', 'all')
    world.pool.work()
    const got = world.pool.paid.get('bob') ?? 0n
    if (got > amount) problems.push(`seed ${SEED + n}: ${got} for ${amount}`)
  }
  expect(problems).toEqual([])
})

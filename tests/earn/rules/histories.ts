import { BareHolders, MILLIONTH } from './bare-holders.ts'
import { Pool } from './pool.ts'
import { sum, Vault, type VaultTerms } from './vault.ts'

/** A small generator with a seed: much faster than a property library, which only chooses the seed. */
export function randomFrom(seed: number) {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    below: (limit: number): number => Math.floor(next() * limit),
    /** With every order of magnitude as likely as another. */
    between: (low: number, high: number): bigint =>
      BigInt(Math.floor(Math.exp(Math.log(low) + next() * (Math.log(high) - Math.log(low))))),
    oneOf: <T>(all: readonly [T, ...T[]]): T => all[Math.floor(next() * all.length)] ?? all[0],
  }
}
export type Random = ReturnType<typeof randomFrom>

export const HOLDERS = ['ann', 'bob', 'cay', 'dan'] as const
const percent = (amount: bigint, part: number): bigint => (amount * BigInt(part)) / 100n

export const randomTerms = (random: Random): VaultTerms => ({
  virtualShares: random.oneOf([10n ** 6n, 10n ** 6n, 10n ** 12n, 1n]),
  entryFeeBps: random.oneOf([0n, 0n, 10n]),
  exitFeeBps: random.oneOf([0n, 0n, 30n]),
  revertsAtZero: random.oneOf([false, true]),
})

export interface World {
  readonly vault: Vault
  readonly pool: Pool
  readonly bare: BareHolders
  /** What somebody else has in the vault. */
  strangers: bigint
}

export function newWorld(terms: VaultTerms): World {
  const vault = new Vault(terms)
  const bare = new BareHolders()
  return { vault, bare, pool: new Pool(vault, bare), strangers: 0n }
}

type Command = (world: World, random: Random) => void

const holder = (random: Random) => random.oneOf(HOLDERS)

export const COMMANDS: Readonly<Record<string, Command>> = {
  dust: ({ pool }, random) => pool.deposit(holder(random), random.between(1, 1e6)),
  deposit: ({ pool }, random) => pool.deposit(holder(random), random.between(1e6, 5e9)),
  first: ({ pool }, random) => pool.deposit(holder(random), random.between(1e8, 1e9)),
  askPart: ({ pool }, random) => {
    const who = holder(random)
    pool.ask(who, percent(pool.positions.get(who) ?? 0n, random.below(101)))
  },
  askDust: ({ pool }, random) => pool.ask(holder(random), random.between(1, 1e7)),
  askAll: ({ pool }, random) => pool.ask(holder(random), 'all'),
  gain: ({ vault }, random) => vault.gain(percent(vault.assets, random.below(20))),
  lose: ({ vault }, random) => vault.lose(percent(vault.assets, random.below(60))),
  loseAll: ({ vault }, random) => {
    if (random.below(8) === 0) vault.lose(vault.assets)
  },
  lend: ({ vault }, random) => {
    vault.liquid = percent(vault.liquid, random.below(60))
  },
  lendAll: ({ vault }) => vault.lendAll(),
  repay: ({ vault }, random) => vault.repay(percent(vault.assets, random.below(40))),
  repayAll: ({ vault }) => vault.repay(vault.assets),
  gift: ({ vault }, random) => vault.gift(random.between(1, 1e9)),
  strangerEnters: (world, random) => {
    world.strangers += world.vault.deposit(random.between(1, 1e10)).shares
  },
  strangerLeaves: (world, random) => {
    const part = percent(world.strangers, random.below(101))
    if (part > 0n && world.vault.redeem(part) !== undefined) world.strangers -= part
  },
  work: ({ pool }) => pool.work(),
  workAgain: ({ pool }) => pool.work(),
  deploy: ({ pool }) => pool.deploy(),
  beginRecall: ({ pool }) => pool.beginRecall(),
  endRecall: ({ pool }) => pool.endRecall(),
  faultyRecall: ({ pool }, random) =>
    pool.endRecall(random.oneOf(['unreadable', 'burned_fewer', 'burned_more'])),
  seize: ({ pool, vault }, random) => {
    const part = random.below(30)
    const lost = percent(pool.held, part === 29 ? 100 : part)
    if (random.below(4) > 0 || lost === 0n || pool.recall !== undefined) return
    vault.supply -= lost
    pool.held -= lost
    pool.bearLoss()
  },
  acceptHeld: ({ pool }) => pool.acceptHeld(),
}
const NAMES = Object.keys(COMMANDS) as [string, ...string[]]

export function step(world: World, random: Random, name = random.oneOf(NAMES)): string {
  COMMANDS[name]?.(world, random)
  return name
}

/** Why the state is wrong; undefined when it is right. */
export function problemOf({ pool, vault, bare, strangers }: World): string | undefined {
  // What one unit is worth, of the vault and of the pool, in millionths of a micro.
  const perShare = pool.ratio === null ? 0n : pool.ratio.vaultShares / pool.ratio.shares
  const [vaultUnit, poolUnit] = [1n, perShare + 1n].map(
    (shares) => vault.valueOf(shares * MILLIONTH) + 1n,
  ) as [bigint, bigint]
  bare.see(poolUnit)
  // Before operators have accepted it, nobody knows what a held recall took.
  if (pool.inDoubt !== undefined) return undefined
  if (pool.held < pool.vaultShares)
    return `${pool.vaultShares} vault shares are counted, ${pool.held} are there`
  if (pool.held + strangers > vault.supply) return 'the wallet holds more than there is'
  const parts = [...pool.positions.values(), ...pool.withdrawals.map(({ open }) => open)]
  const behind = sum(parts.map((shares) => pool.vaultSharesOf(shares)))
  if (behind > pool.vaultShares)
    return `${behind} vault shares belong to holders, the pool has ${pool.vaultShares}`
  const shown = sum(parts.map((shares) => pool.valueOf(shares)))
  if (shown > vault.valueOf(pool.vaultShares))
    return `${shown} is shown to holders, the vault pays ${vault.valueOf(pool.vaultShares)}`
  for (const who of HOLDERS) {
    const mine = pool.worth(who)
    const alone = bare.worth(who, (shares) => vault.valueOf(shares))
    // What is shown now is rounded too: two vault shares (the position's, and those in a recall), and two micros.
    const allowed = bare.allowed(who) + (2n * vaultUnit) / MILLIONTH + 2n
    const differs = mine > alone ? mine - alone : alone - mine
    if (differs > allowed)
      return `${who} has ${mine}, and would have ${alone} without a pool (allowed ${allowed})`
  }
  return undefined
}

/** The vault is repaid, operators accept what is held, and everybody leaves. */
export function settleAll({ pool, vault }: World): void {
  pool.acceptHeld()
  vault.repay(vault.assets)
  for (let round = 0; round < 3; round++) {
    for (const who of HOLDERS) pool.ask(who, 'all')
    pool.work()
  }
}

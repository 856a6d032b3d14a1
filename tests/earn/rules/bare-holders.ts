import type { Observer } from './pool.ts'
import { sum } from './vault.ts'

/**
 * What every depositor would have without a pool: their own vault shares in their own wallet, redeemed when the pool redeems
 * theirs. Kept with 24 more decimals, so that it has no rounding of its own. The measure of fairness.
 */
const FINE = 10n ** 24n
/** Prices of units are kept in millionths of a micro. */
export const MILLIONTH = 1_000_000n

interface Bare {
  active: bigint
  claimed: bigint
  recalled: bigint
  /** In micros, with as many more decimals. */
  paid: bigint
  /** How often the pool has rounded this holder's shares by at most one unit, since the holder came. */
  roundings: bigint
  /** Of those, in the recall under way: undone if it reverts. */
  recallRoundings: bigint
  /** Claims with a part in the recall under way: each payment is rounded by at most one micro. */
  parts: bigint
  /** The highest value that one unit has had since the holder came. */
  unit: bigint
  /** How many micros roundings can have moved that are over: payments, and units of those who had left. */
  micros: bigint
}

export class BareHolders implements Observer {
  readonly all = new Map<string, Bare>()
  #redeemed = 0n

  #of(holder: string): Bare {
    const known = this.all.get(holder)
    if (known !== undefined) return known
    const none = { active: 0n, claimed: 0n, recalled: 0n, paid: 0n }
    const bare = { ...none, roundings: 0n, recallRoundings: 0n, parts: 0n, unit: 0n, micros: 0n }
    this.all.set(holder, bare)
    return bare
  }

  onMinted(received: bigint, parts: readonly { readonly holder: string; readonly amount: bigint }[]): void {
    const total = sum(parts.map(({ amount }) => amount))
    for (const { holder, amount } of parts) {
      this.#of(holder).active += (received * FINE * amount) / total
      this.#of(holder).roundings += 1n
    }
  }

  onAsked(holder: string, shares: bigint, held: bigint): void {
    const bare = this.#of(holder)
    const part = (bare.active * shares) / held
    bare.active -= part
    bare.claimed += part
  }

  /** The same fraction for everybody. In the pool one unit for the sum is rounded, and one for each claim. */
  onRecall(vaultShares: bigint, whole: bigint, holders: readonly string[]): void {
    this.#redeemed = vaultShares
    for (const bare of this.all.values()) {
      const part = (bare.claimed * vaultShares) / whole
      bare.claimed -= part
      bare.recalled += part
    }
    for (const holder of holders) this.#of(holder).parts += 1n
    this.#roundRecall()
  }

  #roundRecall(): void {
    for (const bare of this.all.values()) {
      if (bare.parts === 0n) continue
      bare.recallRoundings += bare.parts + 1n
      bare.roundings += bare.parts + 1n
    }
  }

  onReverted(): void {
    for (const bare of this.all.values()) {
      bare.claimed += bare.recalled
      bare.recalled = 0n
      bare.roundings -= bare.recallRoundings
      bare.recallRoundings = 0n
      bare.parts = 0n
    }
  }

  /** The same price for everybody: that of the receipt. */
  onPaid(assets: bigint): void {
    for (const bare of this.all.values()) {
      if (this.#redeemed > 0n) bare.paid += (assets * bare.recalled) / this.#redeemed
      bare.micros += bare.parts
      bare.recalled = 0n
      bare.recallRoundings = 0n
      bare.parts = 0n
    }
    this.#redeemed = 0n
  }

  /**
   * Each has the same part of what is left. In the pool it is divided by shares, after rounding: so the rests of everybody's
   * roundings are given to all, and each can have as many units more as there were roundings of all.
   */
  onSeized(left: bigint): void {
    const all = [...this.all.values()]
    const had = sum(all.map(({ active, claimed }) => active + claimed))
    if (left * FINE >= had) return
    const roundings = sum(all.map((one) => one.roundings))
    for (const bare of all) {
      if (bare.active + bare.claimed > 0n) bare.roundings = roundings
      bare.active = (bare.active * left * FINE) / had
      bare.claimed = (bare.claimed * left * FINE) / had
    }
  }

  onPartlyBurned(burned: bigint, asked: bigint): void {
    this.#redeemed = burned
    for (const bare of this.all.values()) {
      const back = (bare.recalled * (asked - burned)) / asked
      bare.recalled -= back
      bare.claimed += back
    }
    this.#roundRecall()
  }

  /** In micros. */
  worth(holder: string, priceOf: (vaultShares: bigint) => bigint): bigint {
    const { active, claimed, recalled, paid } = this.#of(holder)
    return paid / FINE + priceOf((active + claimed + recalled) / FINE)
  }

  /** To be called after every step, with what one unit is worth now. */
  see(unit: bigint): void {
    for (const bare of this.all.values()) {
      if (unit > bare.unit) bare.unit = unit
      if (bare.active + bare.claimed + bare.recalled > 0n) continue
      bare.micros += inMicros(bare.roundings * bare.unit)
      bare.roundings = 0n
      bare.unit = 0n
    }
  }

  /** How far roundings can have moved the pool from this, in micros: each one unit, at its highest price. */
  allowed(holder: string): bigint {
    const { roundings, unit, micros } = this.#of(holder)
    return micros + inMicros(roundings * unit)
  }
}

const inMicros = (millionths: bigint): bigint => (millionths + MILLIONTH - 1n) / MILLIONTH

import type { Network } from '@market/kernel/network'
import type { FaultName } from './fault-injector.ts'
import type { RelayFaults } from './relay.ts'
import type { ScenarioName } from './scenarios.ts'

/** A fault that is put into the product on purpose, as a change of its source: the harness must find it. */
export interface Bug {
  readonly name: string
  /** The invariants of which one must break: another one would be an accident. */
  readonly shownBy: readonly string[]
  readonly changes: readonly { readonly file: string; readonly from: string; readonly to: string }[]
  /** Run on the database first, where a constraint would catch the bug before it does harm. */
  readonly sql?: readonly string[]
  /** Overrides that make the bug likely to show: the same load, faults and invariants with other weights. */
  readonly aim: {
    readonly networks?: readonly Network[]
    readonly scenario?: ScenarioName
    readonly thieves?: number
    readonly purchases?: number
    readonly bounties?: number
    readonly earn?: number
    readonly unbound?: boolean
    readonly careless?: boolean
    readonly orders?: number
    readonly abreast?: number
    readonly faults?: number
    readonly faultNames?: readonly FaultName[]
    readonly reorgs?: number
    /** How all nodes behave, from the first order to the end. */
    readonly nodes?: Partial<RelayFaults>
    /** How the first provider of every network behaves besides. */
    readonly firstProvider?: Partial<RelayFaults>
    readonly slotMs?: number
    /** Slots of an epoch on EVM; a block is final two epochs later. */
    readonly epochSlots?: number
    readonly settledWithinMs?: number
  }
}

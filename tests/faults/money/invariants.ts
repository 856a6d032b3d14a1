import { BOOK_CHECKS } from './check-books.ts'
import { CHAIN_CHECKS } from './check-chains.ts'
import { ORDER_CHECKS } from './check-orders.ts'
import { TOLD_CHECKS } from './check-told.ts'
import type { Checks, Facts } from './facts.ts'

export const INVARIANTS: Checks = { ...BOOK_CHECKS, ...ORDER_CHECKS, ...CHAIN_CHECKS, ...TOLD_CHECKS }

export interface Violation {
  readonly invariant: string
  readonly details: readonly string[]
}

export const violationsOf = (facts: Facts): Violation[] =>
  Object.entries(INVARIANTS).flatMap(([invariant, check]) => {
    const details = check(facts)
    return details.length === 0 ? [] : [{ invariant, details }]
  })
